// Package compile turns a spec into a plan: stages linked, typed against privacy, and billed. It opens no data.
package compile

import (
	"errors"
	"path"
	"strings"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/account"
	"weir/schema"
)

// Compile turns a spec into a plan: it links the stages, lets each say from
// headers alone what it returns and spends, checks the privacy types, and
// calibrates the noise. No data is read. The error is of type Diagnostics and
// lists every problem at once, causes only.
func Compile(s *spec.Spec) (*Plan, error) { return Remembering(s, nil) }

// Remembering compiles a spec as Compile does. What the memory holds of equal events is not computed again: specs of
// one command, and trials of one experiment, have most events in common. With nil the plan has a memory of its own.
func Remembering(s *spec.Spec, m *account.Memory) (*Plan, error) {
	if m == nil {
		m = &account.Memory{}
	}
	c := planStages(s)
	c.plan.memory = m
	c.checkShares()
	c.experiment()
	c.advise()
	if len(c.faults) == 0 {
		c.addUp()
	}
	if len(c.faults) == 0 {
		c.decide()
		c.needless()
	}
	if len(c.faults) > 0 {
		c.faults.Sort()
		return nil, c.faults
	}
	return c.plan, nil
}

// Outline compiles all but the bill: links, classes and privacy types, which are what most faults are of, without the
// search for noise, which takes most of the time. The plan has no noise and no epsilon, and what depends on them is
// undecided.
func Outline(s *spec.Spec) (*Plan, error) {
	c := planStages(s)
	c.checkShares()
	c.experiment()
	if len(c.faults) > 0 {
		c.faults.Sort()
		return nil, c.faults
	}
	return c.plan, nil
}

// Faults lists what is wrong with the stages of a spec beside the problems that Parse
// has found in it, and does not follow from them.
func Faults(s *spec.Spec) spec.Diagnostics {
	if !s.KnowsSource() {
		_, faults := link(s)
		return faults
	}
	return planStages(s).faults
}

// planStages links the stages and plans each that can be.
func planStages(s *spec.Spec) *compiler {
	c := &compiler{spec: s, plan: newPlan(s), headers: map[string]pipeline.Headers{}}
	c.headers[pipeline.DatasetID] = pipeline.Headers{"": s.Header()}
	stages, faults := link(s)
	c.faults = faults
	for _, stage := range stages {
		c.step(stage)
	}
	c.elsewhere()
	return c
}

type compiler struct {
	spec    *spec.Spec
	plan    *Plan
	headers map[string]pipeline.Headers // outputs of each planned stage; absent where planning it gave problems
	faults  spec.Diagnostics
}

func newPlan(s *spec.Spec) *Plan {
	d, p := &s.Dataset, &s.Privacy
	stays := ""
	if d.Declared.Stays {
		stays = d.Declared.Program
	}
	return &Plan{Spec: s, Plan: &pipeline.Plan{
		Weir: s.Weir, Name: s.Name, Digest: s.Digest, Seed: s.Seed,
		Dataset: pipeline.DatasetPlan{Source: d.Declared, PrivacyUnit: d.PrivacyUnit.String(), RowsPublic: d.RowsPublic,
			Columns: len(d.Columns().Columns), Budget: d.Budget, Stays: stays, Stability: d.PrivacyUnit.Stability()},
		Adjacency: p.Adjacency, Accountant: p.Accountant, Claims: p.Claims, Budget: p.Epsilon, Delta: p.Delta,
		Findings: []pipeline.Finding{},
	}}
}

// step plans one stage, unless a stage that it reads has problems of its own.
func (c *compiler) step(s *spec.Stage) {
	in, ok := c.inputs(s)
	if ok {
		c.checkUnit(s)
	}
	if !ok || s.Stage == nil || !c.takesLate(s, in) {
		return
	}
	unscored := c.unscored(s, in)
	if unscored != nil {
		c.stageFaults(s, in, unscored)
	}
	work, err := s.Stage.Plan(in.Clone())
	if err != nil {
		c.stageFaults(s, in, err)
	}
	if err != nil || unscored != nil || !s.Sound() {
		return
	}
	work.Out = work.Out.Clone()
	step, err := newStep(s, in, work)
	if err != nil {
		c.refuse(s.ID, "", "of settings that cannot be stored: "+err.Error(),
			"plain data, since they are part of every recipe")
		return
	}
	step.Decided = c.target(s)
	for _, f := range work.Findings {
		f.Stage = s.ID
		c.find(f)
	}
	for _, f := range work.Files {
		if f.Public {
			c.plan.Public = append(c.plan.Public, pipeline.PublicFile{Stage: s.ID, Name: path.Base(f.Path), By: f.By,
				Guarantee: f.Guarantee})
		}
	}
	c.unruled(s, work.Out)
	c.nameStage(step.Work.Out, s.ID)
	step.plansAgain(s.Stage)
	c.checkOutputs(s, in, &step)
	c.checkSpends(s, in, &step)
	c.plan.add(step)
	c.headers[s.ID] = step.Work.Out
}

func (c *compiler) inputs(s *spec.Stage) (pipeline.Headers, bool) {
	in := pipeline.Headers{}
	for _, port := range s.Kind.In {
		for i, r := range s.Inputs[port.Name] {
			h, ok := c.header(r)
			if !ok {
				return nil, false
			}
			if port.Many {
				in[pipeline.Indexed(port.Name, i)] = h
			} else {
				in[port.Name] = h
			}
		}
	}
	return in, true
}

// unscored returns the inputs of a stage that have to score rows and cannot.
func (c *compiler) unscored(s *spec.Stage, in pipeline.Headers) error {
	var ps schema.Problems
	for _, port := range s.Kind.In {
		if h := in[port.Name]; port.Scoring && h.Form == pipeline.FormModel && !h.Scores {
			ps.Add(port.Key(), "a model that does not tell how probable a row is",
				"one of a kind by which rows are scored: "+strings.Join(c.spec.Readers.Scoring(), ", "))
		}
	}
	return ps.Err()
}

func (c *compiler) header(r pipeline.Ref) (pipeline.Header, bool) {
	if r.Stage == pipeline.DatasetID {
		return c.headers[pipeline.DatasetID][""], true
	}
	outs, ok := c.headers[r.Stage]
	if !ok {
		return pipeline.Header{}, false
	}
	for i := range c.spec.Stages {
		if c.spec.Stages[i].ID == r.Stage {
			h, ok := outs[c.spec.Stages[i].Kind.OutPort(r.Port).Name]
			return h, ok
		}
	}
	return pipeline.Header{}, false
}

// stageFaults adds the problems of a stage, without those that may follow from others:
// of settings in whose place a default stands, and of privacy under unknown terms.
func (c *compiler) stageFaults(s *spec.Stage, in pipeline.Headers, err error) {
	var problems schema.Problems
	if !errors.As(err, &problems) {
		problems.Add("", err.Error(), "free of that")
	}
	for _, p := range problems {
		if !s.Sound() && !c.spec.Given(s, p.Path) {
			continue
		}
		path := "stages." + s.ID
		if p.Path != "" {
			path += "." + p.Path
		}
		c.refuseAt(path, s.ID, p.Rule, c.found(s, p), p.Accepted+waitingFor(in, p)+c.releasing(s, in, p))
	}
}

func newStep(s *spec.Stage, in pipeline.Headers, work pipeline.Work) (Step, error) {
	settings, err := schema.JSON(s.Stage)
	if err != nil {
		return Step{}, err
	}
	sends := ""
	if to := work.Send; to != nil {
		sends = "postgres " + to.Table + " of " + to.Connection
	}
	return Step{Ports: s.Kind.In, Work: work, In: in, Step: &pipeline.Step{
		ID: s.ID, Kind: s.Kind.Name, Version: s.Kind.Version, Inputs: s.Inputs, Settings: settings, Lazy: work.Lazy,
		Outputs: map[string]pipeline.Output{}, Events: []privacy.JSON{},
		Sends: sends, First: s.Kind.Out[0].Name, Write: work.Write, Draws: s.Kind.Draws, Figures: s.Kind.Figures}}, nil
}
