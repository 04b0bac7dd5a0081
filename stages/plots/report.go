// Package plots holds the kind report, which counts what plots show of real and synthetic rows and puts them, with what
// the stages above found, on one page for the owner alone.
package plots

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/record"
	"weir/record/report"
	"weir/schema"
	"weir/stages/evaluate"
	"weir/stages/metric"
)

// settings says what the page draws.
type settings struct {
	Target string   `yaml:"target,omitempty" json:"target,omitempty" format:"column" doc:"Column of two categories that ROC and precision-recall curves predict; if omitted, that of the first stage of kind downstream among metrics."`
	Groups []string `yaml:"groups,omitempty" json:"groups,omitempty" format:"columns" unique:"true" maxItems:"10" doc:"Columns of at most 20 categories, such as region: for the rows of each category the page has their share, the errors of the other columns, how many have the target, and the AUROC of the curves, each beside real rows."`
	Plots  int      `yaml:"plots" json:"plots" min:"0" doc:"Number of columns drawn; if there are more, those that changed most." unit:"columns"`
	Rows   int      `yaml:"rows" json:"rows" min:"1" max:"20000" doc:"Number of rows of each table drawn as dots, picked at random." unit:"rows"`
}

// Kinds lists the kind of this room.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{{
		Name: "report", Version: 7, Late: true,
		In: []pipeline.Port{
			{Name: "metrics", Form: pipeline.FormMetrics, Many: true, Optional: true,
				Doc: "figures to show; if omitted, those of every stage above"},
			evaluate.Table("real", "real rows to draw, preferably ones that no model has seen", true),
			evaluate.Table("synthetic", "synthetic rows to draw against them", true),
			evaluate.Table("real_train", "the real rows that the model learnt from, for curves of what they teach", true),
		},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormFiles,
			Doc: "report.html and its plots as SVG and PNG: private, because computed from real rows"}},
		Doc: "Writes the report of a run: one page and its plots. Writes internal/report.html, one page without network, " +
			"and its plots as SVG and PNG: what was released under " +
			"which " +
			"epsilon (published and proven), verdicts with intervals beside what other real rows and independent columns " +
			"reach, what was lost, the bill, every figure with its note. With the ports real " +
			"and synthetic it also draws each column, the association matrices and their difference, dimension-wise shares, " +
			"principal components (Pearson " +
			"1901), ROC and precision-recall curves of logistic regression, and how well each group of rows is served " +
			"(groups). Use it as the last stage.",
		New: func() pipeline.Stage { return &settings{Plots: 40, Rows: 1500} },
	}}
}

// Plan implements pipeline.Stage.
func (s *settings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	real, hasReal := in["real"]
	_, hasSynthetic := in["synthetic"]
	if hasReal != hasSynthetic {
		ps.Add("real", "one of real and synthetic without the other", "both, or neither")
	}
	if s.Target != "" && hasReal {
		s.planTarget(&ps, real.Domain)
	}
	s.planGroups(&ps, in)
	h := pipeline.Header{Form: pipeline.FormFiles, Class: pipeline.Private,
		Stability: pipeline.Unbounded(), Terms: terms(in)}
	return pipeline.Work{Out: pipeline.Headers{"out": h}, OfPlan: true, Run: func(ctx context.Context, env *pipeline.Env,
		in pipeline.Tables) (pipeline.Tables, error) {
		list, err := s.draw(ctx, env, in, docs(real.Domain))
		return pipeline.Tables{"out": pipeline.WriteFiles(h, list)}, err
	}}, ps.Err()
}

func (s *settings) planTarget(ps *schema.Problems, d *domain.Domain) {
	switch c := d.Column(s.Target); {
	case c == nil:
		ps.Unknown("target", "column of real", s.Target, d.Names())
	case len(c.Categories) != 2:
		ps.Add("target", fmt.Sprintf("column %s with %d categories", c.Name, len(c.Categories)), "a column of two categories")
	}
}

// terms returns the terms of any input: all come from one dataset.
func terms(in pipeline.Headers) pipeline.Terms {
	if len(in) == 0 {
		return pipeline.Terms{}
	}
	return in[slices.Min(slices.Collect(maps.Keys(in)))].Terms
}

// docs returns the docs of the columns; none where there is no domain.
func docs(d *domain.Domain) map[string]string {
	list := map[string]string{}
	if d != nil {
		for _, c := range d.Columns {
			list[c.Name] = c.Doc
		}
	}
	return list
}

// parts of a page are shown as progress: figures, columns, associations, components, curves and groups, drawings.
// Which there are to be done follows from the plan, never from rows.
const parts = 6

// draw makes the page and its plots.
func (s *settings) draw(ctx context.Context, env *pipeline.Env, in pipeline.Tables, docs map[string]string) (
	[]pipeline.File, error) {
	page := &report.Report{Name: env.Stage, Insecure: env.Insecure}
	if env.Plan != nil {
		describePlan(page, env.Plan)
	}
	groups, err := readGroups(ctx, env, in)
	if err != nil {
		return nil, err
	}
	page.Groups = groups
	env.Progress(1, parts)
	if err := s.drawTables(ctx, env, in, page); err != nil {
		return nil, err
	}
	env.Progress(parts-1, parts)
	for i := range page.Columns {
		page.Columns[i].Doc = docs[page.Columns[i].Name]
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := page.Files(s.Plots)
	env.Progress(parts, parts)
	list := make([]pipeline.File, len(files))
	for i, f := range files {
		list[i] = pipeline.File(f)
	}
	return list, err
}

// readGroups reads the figures of each connected stage.
func readGroups(ctx context.Context, env *pipeline.Env, in pipeline.Tables) ([]report.Group, error) {
	var groups []report.Group
	for i, t := range in.All("metrics") {
		metrics, err := pipeline.ReadMetrics(ctx, t)
		if err != nil {
			return nil, err
		}
		g := report.Group{Stage: fmt.Sprintf("figures %d", i+1)}
		if step := metricsStep(env, i); step != nil {
			g.Stage, g.Kind, g.Declared = step.ID, step.Kind, step.Figures
		}
		for _, m := range metrics {
			g.Figures = append(g.Figures, report.Figure(m))
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// metricsStep returns the step that the i-th table of metrics comes from; nil
// outside a run.
func metricsStep(env *pipeline.Env, i int) *pipeline.Step {
	if env.Plan == nil || env.Plan.Step(env.Stage) == nil {
		return nil
	}
	refs := env.Plan.Step(env.Stage).Inputs["metrics"]
	if i >= len(refs) {
		return nil
	}
	return env.Plan.Step(refs[i].Stage)
}

// target returns the column that the curves predict, and which category is positive
// ("" where the second is).
func (s *settings) target(env *pipeline.Env) (column, positive string) {
	if s.Target != "" {
		return s.Target, ""
	}
	for i := 0; ; i++ {
		step := metricsStep(env, i)
		if step == nil {
			return "", ""
		}
		var d struct{ Target, Positive string }
		if step.Kind == "downstream" && json.Unmarshal(step.Settings, &d) == nil {
			return d.Target, d.Positive
		}
	}
}

// drawTables fills in what needs rows.
func (s *settings) drawTables(ctx context.Context, env *pipeline.Env, in pipeline.Tables, page *report.Report) error {
	if _, ok := in["real"]; !ok {
		page.LeftOut = append(page.LeftOut, "Plots of columns, associations, principal components and curves: the stage "+
			"has no real and synthetic tables (connect the ports real and synthetic).")
		return nil
	}
	frames, err := evaluate.Read(ctx, in)
	if err != nil {
		return err
	}
	real, synthetic := frames["real"], frames["synthetic"]
	page.Tables = &report.Tables{RealRows: real.Rows, SyntheticRows: synthetic.Rows, Real: source(env, "real"),
		Synthetic: source(env, "synthetic")}
	for _, d := range real.Dropped {
		page.LeftOut = append(page.LeftOut, fmt.Sprintf("Column %s: %s.", d.Column, d.Reason))
	}
	page.Columns = drawColumns(real, synthetic, env.Workers)
	drawVariation(env, frames, page)
	page.Shares, page.SharesPair = dimensionWise(page.Columns), metric.Probability
	env.Progress(2, parts)
	if err := drawRelations(ctx, env, frames, page); err != nil {
		return err
	}
	env.Progress(3, parts)
	if err := s.drawProjection(ctx, env, frames, page); err != nil {
		return err
	}
	env.Progress(4, parts)
	learnt, err := s.drawCurves(ctx, env, frames, page)
	if err != nil {
		return err
	}
	return s.drawGroups(ctx, env, frames, learnt, page)
}

// source names the stage that a port reads.
func source(env *pipeline.Env, port string) string {
	if env.Plan != nil {
		if step := env.Plan.Step(env.Stage); step != nil && len(step.Inputs[port]) > 0 {
			return step.Inputs[port][0].String()
		}
	}
	return port
}

// describePlan puts the bill and what may leave on the page.
func describePlan(page *report.Report, p *pipeline.Plan) {
	if p.Compared != nil {
		page.Name, page.Compared, page.LeftOut = p.Name, true, p.Compared.LeftOut
		return
	}
	page.Name, page.Source = p.Name, p.Dataset.Source.Name
	page.Privacy = report.Privacy{
		Proven: p.Epsilon.Proven, Published: p.Epsilon.Published, Reason: p.Epsilon.Reason,
		Budget: float64(p.Budget), Delta: p.Delta, Adjacency: string(p.Adjacency), Unit: p.Dataset.PrivacyUnit,
		Accountant: p.Accountant, Claims: string(p.Claims), ByAddition: p.Naive,
	}
	for i := range p.Steps {
		describeStep(page, p.Steps[i])
	}
	for _, f := range p.Findings {
		page.Findings = append(page.Findings, record.Finding{Rule: f.Rule, Level: string(f.Level), Stage: f.Stage,
			Message: f.Message, Fix: f.Fix, Acknowledged: f.Acknowledged})
	}
}

func describeStep(page *report.Report, s *pipeline.Step) {
	page.Sample = max(page.Sample, s.Sample)
	for i, p := range s.Spends {
		spend := report.Spend{Stage: s.ID, Line: p.Line}
		if i == 0 { // noise and epsilon belong to the stage
			spend.Cost = s.Cost
		}
		page.Privacy.Spends = append(page.Privacy.Spends, spend)
	}
	for _, port := range slices.Sorted(maps.Keys(s.Outputs)) {
		if o := s.Outputs[port]; leaves(s, port, o) {
			name := s.ID
			if port != s.First {
				name += "." + port
			}
			page.Released = append(page.Released, report.Artifact{Name: name, Form: string(o.Form), Class: string(o.Class),
				Rows: o.Rows, Columns: o.Columns})
		}
	}
}

// leaves reports whether the run writes the output to release/: models and files
// of a class that may leave, and tables that their stage writes.
func leaves(s *pipeline.Step, port string, o pipeline.Output) bool {
	switch {
	case o.Class == pipeline.Private || o.Form == pipeline.FormMetrics:
		return false
	case o.Form == pipeline.FormTable:
		return port == s.First && len(s.Write) > 0
	}
	return true
}
