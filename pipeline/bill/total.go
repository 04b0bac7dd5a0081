package bill

import (
	"fmt"
	"math"
	"strings"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
)

// total fills in what each stage spends alone and what all spend together. A stage without a
// proof has no number that an accountant gave, what comes after it has none for all up to it,
// and a plan with one has no total.
func (b *Bill) total(acc privacy.Accountant) {
	var events []privacy.Event
	naive, whole := 0.0, true
	for _, s := range b.paid {
		if whole = whole && s.proven(); !s.proven() {
			continue
		}
		if s.Alone = b.epsilon(acc, s.rawEvents()); s.Alone != nil {
			naive += *s.Alone
		}
		if whole {
			events = append(events, s.rawEvents()...)
			s.Cumulative = b.epsilon(acc, events)
		}
	}
	if len(b.Faults) > 0 {
		return
	}
	if whole {
		b.plan.Naive, b.plan.Epsilon.Proven = &naive, b.paid[len(b.paid)-1].Cumulative
	}
	b.plan.Epsilon.Reason = reasons(b.paid)
	b.published()
	b.overBudget()
	b.overPublished(acc)
	b.onlyFinite()
}

// reasons says of each stage without a proof why it has none.
func reasons(paid []*Stage) string {
	var list []string
	for _, s := range paid {
		if !s.proven() {
			list = append(list, fmt.Sprintf("stage %s: %s", s.ID, s.Unproven))
		}
	}
	return strings.Join(list, "; ")
}

// onlyFinite leaves out the epsilons that are infinite: there is none at this delta,
// and JSON has no number for it. A total that is infinite is over any budget and refused by
// now; what a paper's arithmetic says beside a proof may still be.
func (b *Bill) onlyFinite() {
	p := b.plan
	p.Naive, p.Epsilon.Published = orNothing(p.Naive), orNothing(p.Epsilon.Published)
	for _, s := range p.Steps {
		s.Alone, s.Cumulative, s.Published = orNothing(s.Alone), orNothing(s.Cumulative), orNothing(s.Published)
	}
}

func orNothing(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return x
}

func (s *Stage) rawEvents() []privacy.Event {
	events := make([]privacy.Event, len(s.Events))
	for i, e := range s.Events {
		events[i] = e.Event
	}
	return events
}

func (b *Bill) epsilon(acc privacy.Accountant, events []privacy.Event) *float64 {
	eps, err := acc.Epsilon(events, b.spec.Privacy.Adjacency, b.spec.Privacy.Delta)
	if err != nil {
		b.calibrationFault(err)
		return nil
	}
	return &eps
}

// published sets what the papers' own accounting gives, summed over the stages as
// papers add them; none where a paying stage has no such accounting.
func (b *Bill) published() {
	sum, all := 0.0, true
	for _, s := range b.paid {
		p := s.Work.Pricing.Published
		if p == nil {
			all = false
			continue
		}
		eps, err := p.Epsilon(*s.NoiseMultiplier, b.spec.Privacy.Delta)
		if err != nil {
			all = false
			b.Findings = append(b.Findings, pipeline.Finding{Rule: "W33", Level: pipeline.LevelNote, Stage: s.ID,
				Message: "the published accounting gives no number: " + err.Error()})
			continue
		}
		s.Published, s.PublishedMethod = &eps, p.Method
		sum += eps
	}
	if all {
		b.plan.Epsilon.Published = &sum
	}
}

// overBudget refuses a bill above the budget, which fixed noise can cause, and
// warns of numbers that promise little.
func (b *Bill) overBudget() {
	t, proven := &b.spec.Privacy, b.plan.Epsilon.Proven
	if proven != nil && !(*proven <= float64(t.Epsilon)*(1+1e-9)) { // no number is over every budget
		b.fault("privacy.epsilon", fmt.Sprintf("%.5g, and the bill comes to %s", float64(t.Epsilon), privacy.Bound(*proven)),
			"no less than the bill, or the fixed noise greater", spec.RuleBudget)
	}
	if proven != nil && *proven > 10 {
		b.warn("W33", fmt.Sprintf("a proven epsilon of %s promises little", privacy.Bound(*proven)),
			"a smaller budget, or privacy.acknowledge: {W33: the reason for this one}")
	}
	b.largeDelta()
}

// largestDelta is what a table may have of delta whose rows nobody counts in public: one
// over the rows of a small one.
const largestDelta = 1e-3

// largeDelta warns of a delta under which single rows may be published whole.
func (b *Bill) largeDelta() {
	switch n, delta := b.spec.Dataset.RowsPublic, b.spec.Privacy.Delta; {
	case n > 0 && delta > 1/float64(n):
		b.warn("W07", fmt.Sprintf("delta %g is above one over the %d public rows", delta, n), "a smaller delta")
	case n == 0 && delta > largestDelta:
		b.warn("W07", fmt.Sprintf("delta %g is above %g: it allows that one row in %.0f is published as it is", delta,
			largestDelta, 1/delta),
			"a delta below one over the order of magnitude of the rows")
	}
}

func (b *Bill) warn(rule, message, fix string) {
	b.Findings = append(b.Findings, pipeline.Finding{Rule: rule, Level: pipeline.LevelWarning, Message: message, Fix: fix})
}
