package compile

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/calibrate"
)

// Where a stage has no proof, no accountant can say what the plan spends, and
// privacy.epsilon is met as papers meet theirs, by addition: what a stage without a proof
// takes is what its paper's arithmetic says at the delta of the plan, and what the others
// take together is what the accountant says. The sum finds noise and refuses what is over
// the budget. It is no bound, so it is never shown.

// splitProven tells the steps that have a proof from those that have none.
func splitProven(paid []*Step) (proven, unproven []*Step) {
	for _, s := range paid {
		if s.proven() {
			proven = append(proven, s)
		} else {
			unproven = append(unproven, s)
		}
	}
	return proven, unproven
}

// open tells whether the budget finds the noise of any step.
func open(steps []*Step) bool {
	for _, s := range steps {
		if s.Work.Pricing.Scale == 0 {
			return true
		}
	}
	return false
}

// calibratePublished sets the noise of the steps without a proof, and returns what they
// leave of epsilon for those with one.
func (c *compiler) calibratePublished(acc privacy.Accountant, proven, unproven []*Step) (left float64, err error) {
	epsilon := float64(c.spec.Privacy.Epsilon)
	if len(unproven) == 0 || !open(proven) && !open(unproven) {
		return epsilon, c.settleAll(unproven)
	}
	fixed, err := c.fixed(acc, proven, unproven)
	if err == nil && !(fixed < epsilon) {
		err = fmt.Errorf("the stages whose noise the spec fixes spend epsilon %.5g of %.5g, those without a proof by their "+
			"papers' arithmetic, and leave nothing for the others", fixed, epsilon)
	}
	if err != nil {
		return 0, err
	}
	left = epsilon - fixed
	used := 0.0
	for _, s := range unproven {
		scale := s.Work.Pricing.Scale
		if scale == 0 {
			used += c.share(s)
			if scale, err = calibrate.Least(left*c.share(s), c.arithmetic(s)); err != nil {
				return 0, fmt.Errorf("stage %s, by the arithmetic of its paper: %w", s.ID, err)
			}
		}
		if err := c.settleAt(s, scale); err != nil {
			return 0, err
		}
	}
	if !open(proven) {
		return epsilon, nil
	}
	return left * (1 - used), nil
}

// fixed returns what the stages spend whose noise the spec fixes, without those that share an
// accountant with open ones, which looks at them itself.
func (c *compiler) fixed(acc privacy.Accountant, proven, unproven []*Step) (sum float64, err error) {
	var events []privacy.Event
	for _, s := range proven {
		if !open(proven) {
			events = append(events, c.events(s, s.Work.Pricing.Scale)...)
		}
	}
	if len(events) > 0 {
		if sum, err = acc.Epsilon(events, c.spec.Privacy.Adjacency, c.spec.Privacy.Delta); err != nil {
			return 0, err
		}
	}
	for _, s := range unproven {
		if s.Work.Pricing.Scale > 0 && s.Work.Pricing.Published != nil {
			if eps, err := c.arithmetic(s)(s.Work.Pricing.Scale); err == nil { // else there is no number, as unreadable says
				sum += eps
			}
		}
	}
	return sum, nil
}

// arithmetic returns the arithmetic of the step's paper, over its noise.
func (c *compiler) arithmetic(s *Step) func(multiplier float64) (float64, error) {
	return func(m float64) (float64, error) {
		eps, err := s.Work.Pricing.Published.Epsilon(m, c.spec.Privacy.Delta)
		return privacy.ProvenEpsilon(eps), err
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

// overPublished refuses a bill without a proof that by the papers' arithmetic is above the
// budget, and warns of a stage about which nothing says what it takes of it.
func (c *compiler) overPublished(acc privacy.Accountant, paid []*Step) {
	proven, unproven := splitProven(paid)
	if len(unproven) == 0 {
		return
	}
	sum := 0.0
	for _, s := range unproven {
		if s.Published == nil {
			c.warning(pipeline.Finding{Rule: "W33", Level: pipeline.LevelWarning, Stage: s.ID,
				Message: "neither a proof nor a published number says what this stage takes of privacy.epsilon",
				Fix:     "a variant that is proven"})
			continue
		}
		sum += *s.Published
	}
	var events []privacy.Event
	for _, s := range proven {
		events = append(events, s.rawEvents()...)
	}
	if len(events) > 0 {
		if eps := c.epsilon(acc, events); eps != nil {
			sum += *eps
		}
	}
	if epsilon := float64(c.spec.Privacy.Epsilon); !(sum <= epsilon*(1+1e-9)) {
		c.fault("privacy.epsilon", fmt.Sprintf("%.5g, and by the arithmetic of the papers the bill comes to %s", epsilon,
			privacy.Bound(sum)),
			"no less than that, or the fixed noise greater", spec.RuleBudget)
	}
}
