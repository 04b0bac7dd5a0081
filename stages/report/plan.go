package report

import (
	"maps"
	"slices"

	"weir/pipeline"
	"weir/record"
	"weir/record/report"
)

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
		page.Findings = append(page.Findings, record.Finding{Rule: f.Rule, Level: string(f.Level), Stage: f.Stage, Message: f.Message, Fix: f.Fix})
	}
}

func describeStep(page *report.Report, s *pipeline.Step) {
	for i, p := range s.Spends {
		spend := report.Spend{Stage: s.ID, Line: p.Line}
		if i == 0 { // noise and epsilon are those of the stage
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
			page.Released = append(page.Released, report.Artifact{Name: name, Form: string(o.Form), Class: string(o.Class), Rows: o.Rows, Columns: o.Columns})
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
