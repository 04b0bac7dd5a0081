package main

import (
	"slices"
	"strings"

	"weir/pipeline/compile"
	"weir/runtime/schedule"
)

// alike reports whether two runs ended by the same error. What fails ends the stages that
// run beside it, wherever they are by the clock, so that what such runs leave cannot be
// compared as it is.
func alike(one, other *outcome) bool {
	return one.err != nil && describe(one.err) == describe(other.err)
}

// alone runs a case that failed alike once more, cut down to the stage that failed and
// those that it reads: these are all done before it begins, so that the clock has no part
// in what is left. Where nothing is to be cut off the runs stand as they are; where the
// stage fails no more, the smaller case is a case like others.
func (s *soak) alone(t *trial, one, other *outcome) (*finding, error) {
	small := t.until(one)
	if small == nil {
		return found(t, one, other), nil
	}
	a, b, err := s.both(small)
	if err != nil { // such as a stage that reads the one above it
		s.cover.uncompared++
		if list := append(broken(one), broken(other)...); len(list) > 0 {
			return &finding{t, list}, nil
		}
		return nil, nil
	}
	if alike(a, b) && small.until(a) != nil {
		s.cover.uncompared++
		return nil, nil
	}
	s.cover.again++
	return found(small, a, b), nil
}

// until is a case without the stages that the failed one does not wait for; nil where it
// waits for all others, or where no stage failed.
func (t *trial) until(o *outcome) *trial {
	needed := needs(o.plan, o.failed)
	if o.failed == "" || len(needed) == len(t.stages) {
		return nil
	}
	g := *t.gen
	g.stages = slices.DeleteFunc(slices.Clone(t.stages), func(one stage) bool { return !needed[one.id] })
	return &trial{number: t.number, world: t.world, spec: g.text(), stages: g.stages, gen: &g}
}

// needs is a stage and all that it reads.
func needs(plan *compile.Plan, id string) map[string]bool {
	needed := map[string]bool{id: true}
	for i := len(plan.Steps) - 1; i >= 0; i-- {
		for _, refs := range plan.Steps[i].Inputs {
			for _, r := range refs {
				if needed[plan.Steps[i].ID] && plan.Step(r.Stage) != nil {
					needed[r.Stage] = true
				}
			}
		}
	}
	return needed
}

// failure is the first stage of a plan that ended by an error of its own.
func (s *shown) failure(plan *compile.Plan) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range plan.Steps {
		for stage, err := range s.errs {
			if stage == plan.Steps[i].ID && !schedule.Cancelled(err) && !strings.Contains(err.Error(), "context canceled") {
				return stage
			}
		}
	}
	return ""
}
