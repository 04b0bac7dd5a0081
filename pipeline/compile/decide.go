package compile

import (
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/schema"
)

// decide lists what follows from the noise of the bill, and refuses settings that cannot be carried out under it.
func (c *compiler) decide() {
	for i := range c.plan.Steps {
		s := &c.plan.Steps[i]
		if s.Work.Decide == nil {
			continue
		}
		decision := s.Work.Decide(s.scale())
		if len(s.Keys) > 0 { // how rows that come to weir are counted
			decision.Decided = slices.DeleteFunc(decision.Decided,
				func(d pipeline.Decided) bool { return d.Setting == "counts" })
		}
		s.Decided = append(s.Decided, decision.Decided...)
		for _, f := range decision.Findings {
			f.Stage = s.ID
			c.warning(f)
		}
		for _, p := range decision.Refused {
			c.refuseAt("stages."+s.ID+"."+p.Path, s.ID, p.Rule, p.Found, p.Accepted)
		}
	}
}

// scale returns the scale of the step's noise; 0 where there is none.
func (s *Step) scale() float64 {
	if s.NoiseMultiplier == nil {
		return 0
	}
	return *s.NoiseMultiplier
}

// target says where the target of a step comes from. A spec that gives the column that
// its evaluation names reads the same: its canonical form does.
func (c *compiler) target(s *spec.Stage) []pipeline.Decided {
	aimed, ok := s.Stage.(pipeline.Aimed)
	if !ok || c.whyTarget(*aimed.AimAt()) == "" {
		return nil
	}
	return []pipeline.Decided{{Setting: "target", Value: *aimed.AimAt(), Why: c.whyTarget(*aimed.AimAt())}}
}

// found says of a target that the spec does not give where it comes from.
func (c *compiler) found(s *spec.Stage, p schema.Problem) string {
	if p.Path != "target" || c.spec.Given(s, "target") {
		return p.Found
	}
	for _, d := range c.target(s) {
		return p.Found + " (" + d.Why + ")"
	}
	return p.Found
}

// whyTarget returns nothing where the target has nothing to do with what the spec predicts.
func (c *compiler) whyTarget(target string) string {
	list := c.spec.Predicted()
	i := slices.IndexFunc(list, func(p spec.Predicted) bool { return p.Column == target })
	switch {
	case i >= 0:
		return "from stage " + strings.Join(list[i].By, ", ")
	case target == pipeline.NoTarget && len(list) > 0:
		return "as the spec says, though stage " + strings.Join(list[0].By, ", ") + " predicts " + list[0].Column
	}
	return ""
}
