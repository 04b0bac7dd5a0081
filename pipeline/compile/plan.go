package compile

import (
	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/relation"
	"weir/pipeline/spec"
	"weir/privacy/account"
)

// Plan is what a run carries out: the plan as data, its spec, and the steps with the functions that do their work.
type Plan struct {
	*pipeline.Plan
	Spec  *spec.Spec `json:"-"`
	Steps []Step     `json:"-"` // in an order in which each comes after those it reads

	memory *account.Memory // of the accountants that were asked for the bill; nil of an outline
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

	change bill.Change
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

// Beside compiles a spec that has much in common with the spec of another plan: what accountants said for the bill of
// that plan is not computed again.
func Beside(s *spec.Spec, other *Plan) (*Plan, error) {
	return Remembering(s, other.memory)
}

// Again returns the plan of a spec that says what an earlier one said, as specs of an experiment's repeats do, with
// stages of its own, so that both may run at once. The bill is the earlier one: to find its noise anew would take most
// of the time and come to the same.
func Again(s *spec.Spec, before *Plan) (*Plan, error) {
	if s.Digest != before.Digest {
		return Beside(s, before)
	}
	c := planStages(s)
	if len(c.faults) > 0 {
		c.faults.Sort()
		return nil, c.faults
	}
	p := &Plan{Plan: before.Plan, Spec: s, memory: before.memory}
	for i, step := range c.plan.Steps {
		step.Step = before.Steps[i].Step
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}
