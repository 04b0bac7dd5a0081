package compile

import (
	"fmt"
	"path"
	"strings"

	"weir/pipeline"
	"weir/pipeline/spec"
)

// gap is what a mechanism lacks for a proof, and what would have one.
type gap struct {
	pipeline.Unproven
	instead string
}

// own is a gap of which the stage itself says why.
const own = "a mechanism without a proven bound: "

// reproducing says what claims: published is for.
const reproducing = "; claims: published runs it with no epsilon proven, only to reproduce what a paper ran"

// gaps lists why nothing is proven of a stage's mechanisms: an input that may change
// anywhere, a private file beside the dataset, or what the stage says of itself.
func (c *compiler) gaps(s *spec.Stage, step *Step) []gap {
	list := c.unboundedInputs(s)
	for _, f := range step.Work.Files {
		if !f.Public {
			list = append(list, gap{pipeline.Unproven{Rule: "W13", Why: "a mechanism beside the private file " +
				path.Base(f.Path) + ", which may change without bound"},
				"a mechanism on the dataset alone"})
		}
	}
	if u := step.Work.Pricing.Unproven; u != (pipeline.Unproven{}) {
		u.Why = own + u.Why
		list = append(list, gap{u, "a variant with a proof (weir kinds " + s.Kind.Name + ")"})
	}
	return list
}

func (c *compiler) unboundedInputs(s *spec.Stage) (list []gap) {
	for _, port := range s.Kind.In {
		for _, r := range s.Inputs[port.Name] {
			h, _ := c.header(r)
			if port.Lends || h.Class != pipeline.Private {
				continue
			}
			if h.Form != pipeline.FormTable {
				list = append(list, gap{pipeline.Unproven{Rule: "W13", Why: fmt.Sprintf("a mechanism on %s, which is private, of "+
					"form %s, and may change without bound", r, h.Form)}, "a mechanism on a table"})
			} else if !h.Stability.Bounded() {
				why, fix := c.unboundedSince(r)
				list = append(list, gap{pipeline.Unproven{Rule: "W03", Why: why}, "a table of stability rows(c) or shards(k); " +
					fix})
			}
		}
	}
	return list
}

// checkProven refuses a stage without a proof under claims: proven. Under published it
// warns of each gap and marks the step, and from there on nothing that is computed of its
// mechanisms is a bound (calibrate, total).
func (c *compiler) checkProven(s *spec.Stage, step *Step) {
	var rules []string
	for _, g := range c.gaps(s, step) {
		if c.spec.Privacy.Claims != pipeline.ClaimsPublished {
			c.refuse(s.ID, g.Rule, g.Why, g.instead+reproducing)
			continue
		}
		rules = append(rules, strings.Replace(g.String(), own, "", 1))
		c.warning(pipeline.Finding{Rule: g.Rule, Level: pipeline.LevelWarning, Stage: s.ID, Message: g.Why +
			": no epsilon is proven", Fix: g.instead})
	}
	if len(rules) > 0 {
		c.checkArithmetic(s, step.Work.Pricing)
		rule, why, _ := strings.Cut(strings.Join(rules, "; "), ": ")
		step.Unproven = pipeline.Unproven{Rule: rule, Why: why}
	}
}

// checkArithmetic refuses a stage without a proof whose noise nothing finds.
func (c *compiler) checkArithmetic(s *spec.Stage, t pipeline.Pricing) {
	if t.Scale == 0 && t.Published == nil {
		c.refuse(s.ID, spec.RuleBudget, "a mechanism of which nothing is proven and for which its paper has no arithmetic, "+
			"so that no budget says how much noise it takes",
			"one with a noise_multiplier of its own")
	}
}
