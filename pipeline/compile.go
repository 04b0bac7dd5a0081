package pipeline

import (
	"encoding/json"
	"errors"
	"path"
	"sort"

	"weir/privacy"
)

// Compile turns a spec into a plan: it links the stages, lets each say from
// headers alone what it returns and spends, checks the privacy types, and
// calibrates the noise. No data is read. The error is of type Diagnostics and
// lists every problem at once, causes only.
func Compile(spec *Spec) (*Plan, error) {
	stages, faults := link(spec)
	if len(faults) > 0 {
		return nil, faults
	}
	c := &compiler{spec: spec, plan: newPlan(spec), headers: map[string]Headers{}}
	c.headers[DatasetID] = Headers{"": spec.Source()}
	for _, s := range stages {
		c.step(s)
	}
	c.splitNames()
	c.experiment()
	c.advise()
	if len(c.faults) == 0 {
		c.bill()
	}
	if len(c.faults) > 0 {
		sort.SliceStable(c.faults, func(i, j int) bool { return c.faults[i].Line < c.faults[j].Line })
		return nil, c.faults
	}
	return c.plan, nil
}

type compiler struct {
	spec    *Spec
	plan    *Plan
	headers map[string]Headers // outputs of each planned stage; absent where planning it gave problems
	faults  Diagnostics
}

func newPlan(spec *Spec) *Plan {
	d, p := &spec.Dataset, &spec.Privacy
	return &Plan{
		Weir: spec.Weir, Name: spec.Name, Digest: spec.Digest, Seed: spec.Seed,
		Dataset: DatasetPlan{File: d.File, Demo: d.Demo, PrivacyUnit: d.PrivacyUnit.String(), RowsPublic: d.RowsPublic,
			Columns: len(d.columns.Columns), Budget: d.Budget},
		Adjacency: p.Adjacency, Accountant: p.Accountant, Claims: p.Claims, Budget: p.Epsilon, Delta: p.Delta,
		Findings: []Finding{}, Spec: spec,
	}
}

// Source is the header of the dataset: private, rows(1) or rows(max_rows).
func (s *Spec) Source() Header {
	h := Header{Class: Private, Stability: s.Dataset.PrivacyUnit.Stability(), OwnRows: true, Rows: s.Dataset.RowsPublic,
		Terms: Terms{Adjacency: s.Privacy.Adjacency, Claims: s.Privacy.Claims, NoPrivacy: s.Privacy.Epsilon.Infinite(),
			Unit: s.Dataset.PrivacyUnit}}
	d := s.Dataset.columns
	if unit := s.Dataset.PrivacyUnit.Column; unit != "" {
		h.Rows = 0 // how many rows are dropped beyond max_rows depends on the data
		d = d.Clone()
		d.Columns[d.Index(unit)].OfUnit = true
	}
	return TableHeader(d, h)
}

// step plans one stage, unless a stage that it reads has problems of its own.
func (c *compiler) step(s *StageSpec) {
	in, ok := c.inputs(s)
	if !ok {
		return
	}
	work, err := s.Stage.Plan(in.clone())
	if err != nil {
		c.stageFaults(s.ID, err)
		return
	}
	work.Out = work.Out.clone()
	step, err := newStep(s, in, work)
	if err != nil {
		c.refuse(s.ID, "", "of settings that cannot be stored: "+err.Error(), "plain data, since they are part of every recipe")
		return
	}
	for _, f := range work.Findings {
		f.Stage = s.ID
		c.plan.Findings = append(c.plan.Findings, f)
	}
	for _, f := range work.Files {
		if f.Public {
			c.plan.Public = append(c.plan.Public, PublicFile{Stage: s.ID, Name: path.Base(f.Path), By: f.By})
		}
	}
	c.checkOutputs(s, in, &step)
	c.checkSpends(s, in, &step)
	c.plan.Steps = append(c.plan.Steps, step)
	c.headers[s.ID] = step.Work.Out
}

func (c *compiler) inputs(s *StageSpec) (Headers, bool) {
	in := Headers{}
	for _, port := range s.Kind.In {
		for i, r := range s.Inputs[port.Name] {
			h, ok := c.header(r)
			if !ok {
				return nil, false
			}
			if port.Many {
				in[Indexed(port.Name, i)] = h
			} else {
				in[port.Name] = h
			}
		}
	}
	return in, true
}

func (c *compiler) header(r Ref) (Header, bool) {
	if r.Stage == DatasetID {
		return c.headers[DatasetID][""], true
	}
	outs, ok := c.headers[r.Stage]
	if !ok {
		return Header{}, false
	}
	for i := range c.spec.Stages {
		if c.spec.Stages[i].ID == r.Stage {
			h, ok := outs[c.spec.Stages[i].Kind.OutPort(r.Port).Name]
			return h, ok
		}
	}
	return Header{}, false
}

func (c *compiler) stageFaults(id string, err error) {
	var problems Problems
	if !errors.As(err, &problems) {
		problems = Problems{{Found: err.Error(), Accepted: "free of that"}}
	}
	for _, p := range problems {
		path := "stages." + id
		if p.Path != "" {
			path += "." + p.Path
		}
		d := c.spec.diagnostic(path, p.Found, p.Accepted, "")
		d.Rule, d.Stage = p.Rule, id
		c.faults = append(c.faults, d)
	}
}

func newStep(s *StageSpec, in Headers, work Work) (Step, error) {
	settings, err := json.Marshal(s.Stage)
	if err != nil {
		return Step{}, err
	}
	return Step{ID: s.ID, Kind: s.Kind.Name, Version: s.Kind.Version, Inputs: s.Inputs, Settings: settings, Lazy: work.Lazy,
		Outputs: map[string]Output{}, Events: []privacy.JSON{}, Unproven: work.Terms.Unproven,
		Ports: s.Kind.In, First: s.Kind.Out[0].Name, Work: work, In: in}, nil
}
