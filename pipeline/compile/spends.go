package compile

import (
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/spec"
	"weir/schema"
)

// checkSpends holds the mechanisms of a stage against what they run on: nothing
// unbounded unless no proof is claimed, a group as large as what changes, shards for a
// mechanism on shards.
func (c *compiler) checkSpends(s *spec.Stage, in pipeline.Headers, step *Step) {
	if len(step.Work.Spends) == 0 {
		return
	}
	if step.Work.Lazy {
		c.refuse(s.ID, "W14", "a paid stage that is computed anew by each reader",
			"stored once: what is paid for once draws its noise once")
	}
	if c.spec.Privacy.Epsilon.Infinite() {
		c.checkPlanned(s, step, bill.Change{Rows: 1})
		return
	}
	if classOf(s.Kind, in) != pipeline.Private && !slices.ContainsFunc(step.Work.Files,
		func(f pipeline.FileUse) bool { return !f.Public }) {
		c.warning(pipeline.Finding{Rule: "W43", Level: pipeline.LevelWarning, Stage: s.ID,
			Message: "noise is paid for on what is released or public already: the charge protects nobody, and takes from the " +
				"budget of the stages that need it",
			Fix: "the private table as its input, or a stage without noise on this one (sample, compare_queries, marginals)"})
	}
	after := bill.ChangeOf(s.Kind, in)
	if after.Rows > 1 {
		step.Work.Pricing.Published = nil // a paper's epsilon is about one row
	}
	c.checkProven(s, step)
	c.checkPlanned(s, step, after)
	c.checkShards(s, in)
}

// checkShards refuses more shards than public rows: most would be empty, and what learns
// from them would be paid for and learn nothing.
func (c *compiler) checkShards(s *spec.Stage, in pipeline.Headers) {
	for _, port := range s.Kind.In {
		if h := in[port.Name]; !port.Lends && h.Shards > 0 && h.Rows > 0 && int64(h.Shards) > h.Rows {
			c.refuse(s.ID, "", fmt.Sprintf("a mechanism on %d shards of a table of %d public rows", h.Shards, h.Rows),
				"at most as many shards as rows")
		}
	}
}

// checkPlanned prices every spend once, at scale 1, so that what cannot be priced
// is a problem with a place.
func (c *compiler) checkPlanned(s *spec.Stage, step *Step, change bill.Change) {
	step.change = change
	names := map[string]bool{}
	for _, spend := range step.Work.Spends {
		if spend.Name == "" {
			c.refuse(s.ID, "W19", "a mechanism without a name", "one charge for each name")
		}
		if names[spend.Name] {
			c.refuse(s.ID, "W19", fmt.Sprintf("two mechanisms named %q", spend.Name), "one charge for each name")
		}
		names[spend.Name] = true
		scale := step.Work.Pricing.Scale
		if scale == 0 {
			scale = 1
		}
		if c.spec.Privacy.Epsilon.Infinite() {
			scale = 0
		}
		if _, err := change.Price(spend, scale, c.spec.Privacy.Adjacency); err != nil {
			c.refuse(s.ID, "W10", fmt.Sprintf("a mechanism (%s) without a price: %v", spend.Name, err),
				"a mechanism that has a bound on what changes here")
		}
	}
}

// bill returns the bill of the plan, with its stages that spend.
func (c *compiler) bill() *bill.Bill {
	var paid []*bill.Stage
	for _, s := range c.plan.Steps {
		if len(s.Work.Spends) > 0 {
			paid = append(paid, &bill.Stage{Step: s.Step, Work: s.Work, Change: s.change})
		}
	}
	return bill.New(c.spec, c.plan.Plan, paid)
}

func (c *compiler) checkShares() {
	b := c.bill()
	b.CheckShares()
	c.faults = append(c.faults, b.Faults...)
}

// addUp finds the noise of the plan and what it spends.
func (c *compiler) addUp() {
	b := c.bill()
	b.AddUp(c.plan.memory)
	c.faults = append(c.faults, b.Faults...)
	for _, f := range b.Findings {
		c.find(f)
	}
}

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
