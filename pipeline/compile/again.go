package compile

import "weir/pipeline/spec"

// Again returns the plan of a spec that says what an earlier one said, as specs of an experiment's repeats do, with
// stages of its own, so that both may run at once. The bill is the earlier one: to find its noise anew would take most
// of the time and come to the same.
func Again(s *spec.Spec, before *Plan) (*Plan, error) {
	if s.Digest != before.Digest {
		return Compile(s)
	}
	c := planStages(s)
	if len(c.faults) > 0 {
		c.faults.Sort()
		return nil, c.faults
	}
	p := &Plan{Plan: before.Plan, Spec: s}
	for i, step := range c.plan.Steps {
		step.Step = before.Steps[i].Step
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}
