package compile

import (
	"weir/pipeline"
	"weir/pipeline/relation"
	"weir/pipeline/spec"
)

// Plan is what a run does, exactly: the plan as data, and what the run goes by.
type Plan struct {
	*pipeline.Plan
	Spec  *spec.Spec `json:"-"`
	Steps []Step     `json:"-"` // in an order in which each comes after those it reads
}

// Step is a stage in a plan, with what a run of it needs.
type Step struct {
	*pipeline.Step
	Ports []pipeline.Port // input sockets of the kind
	Work  pipeline.Work
	In    pipeline.Headers // of its inputs

	// Of a stage that counts rows where they stay: what it asks for before it pays (see pipeline.Asking).
	Kept relation.Relation
	Keys []relation.Key

	change change
}

// Step returns the step of the named stage, or nil.
func (p *Plan) Step(id string) *Step {
	for i := range p.Steps {
		if p.Steps[i].ID == id {
			return &p.Steps[i]
		}
	}
	return nil
}

func (p *Plan) add(s Step) {
	p.Steps, p.Plan.Steps = append(p.Steps, s), append(p.Plan.Steps, s.Step)
}
