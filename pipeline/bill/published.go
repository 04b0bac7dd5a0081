package bill

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
func splitProven(paid []*Stage) (proven, unproven []*Stage) {
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
func open(steps []*Stage) bool {
	for _, s := range steps {
		if s.Work.Pricing.Scale == 0 {
			return true
		}
	}
	return false
}

// calibratePublished sets the noise of the steps without a proof, and returns what they
// leave of epsilon for those with one.
func (b *Bill) calibratePublished(acc privacy.Accountant, proven, unproven []*Stage) (left float64, err error) {
	epsilon := float64(b.spec.Privacy.Epsilon)
	if len(unproven) == 0 || !open(proven) && !open(unproven) {
		return epsilon, b.settleAll(unproven)
	}
	fixed, err := b.fixed(acc, proven, unproven)
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
			used += b.share(s)
			if scale, err = calibrate.Least(left*b.share(s), b.arithmetic(s)); err != nil {
				return 0, fmt.Errorf("stage %s, by the arithmetic of its paper: %w", s.ID, err)
			}
		}
		if err := b.settleAt(s, scale); err != nil {
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
func (b *Bill) fixed(acc privacy.Accountant, proven, unproven []*Stage) (sum float64, err error) {
	var events []privacy.Event
	for _, s := range proven {
		if !open(proven) {
			events = append(events, b.events(s, s.Work.Pricing.Scale)...)
		}
	}
	if len(events) > 0 {
		if sum, err = acc.Epsilon(events, b.spec.Privacy.Adjacency, b.spec.Privacy.Delta); err != nil {
			return 0, err
		}
	}
	for _, s := range unproven {
		if s.Work.Pricing.Scale > 0 && s.Work.Pricing.Published != nil {
			if eps, err := b.arithmetic(s)(s.Work.Pricing.Scale); err == nil { // else there is no number, as unreadable says
				sum += eps
			}
		}
	}
	return sum, nil
}

// arithmetic returns the arithmetic of the step's paper, over its noise.
func (b *Bill) arithmetic(s *Stage) func(multiplier float64) (float64, error) {
	return func(m float64) (float64, error) {
		eps, err := s.Work.Pricing.Published.Epsilon(m, b.spec.Privacy.Delta)
		return privacy.ProvenEpsilon(eps), err
	}
}

// overPublished refuses a bill without a proof that by the papers' arithmetic is above the
// budget, and warns of a stage about which nothing says what it takes of it.
func (b *Bill) overPublished(acc privacy.Accountant) {
	proven, unproven := splitProven(b.paid)
	if len(unproven) == 0 {
		return
	}
	sum := 0.0
	for _, s := range unproven {
		if s.Published == nil {
			b.Findings = append(b.Findings, pipeline.Finding{Rule: "W33", Level: pipeline.LevelWarning, Stage: s.ID,
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
		if eps := b.epsilon(acc, events); eps != nil {
			sum += *eps
		}
	}
	if epsilon := float64(b.spec.Privacy.Epsilon); !(sum <= epsilon*(1+1e-9)) {
		b.fault("privacy.epsilon", fmt.Sprintf("%.5g, and by the arithmetic of the papers the bill comes to %s", epsilon,
			privacy.Bound(sum)),
			"no less than that, or the fixed noise greater", spec.RuleBudget)
	}
}
