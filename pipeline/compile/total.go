package compile

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
func (c *compiler) total(acc privacy.Accountant, paid []*Step) {
	var events []privacy.Event
	naive, whole := 0.0, true
	for _, s := range paid {
		if whole = whole && s.proven(); !s.proven() {
			continue
		}
		if s.Alone = c.epsilon(acc, s.rawEvents()); s.Alone != nil {
			naive += *s.Alone
		}
		if whole {
			events = append(events, s.rawEvents()...)
			s.Cumulative = c.epsilon(acc, events)
		}
	}
	if len(c.faults) > 0 {
		return
	}
	if whole {
		c.plan.Naive, c.plan.Epsilon.Proven = &naive, paid[len(paid)-1].Cumulative
	}
	c.plan.Epsilon.Reason = reasons(paid)
	c.published(paid, c.spec.Privacy.Delta)
	c.overBudget()
	c.overPublished(acc, paid)
	c.plan.onlyFinite()
}

// reasons says of each stage without a proof why it has none.
func reasons(paid []*Step) string {
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
func (p *Plan) onlyFinite() {
	p.Naive, p.Epsilon.Published = orNothing(p.Naive), orNothing(p.Epsilon.Published)
	for i := range p.Steps {
		s := &p.Steps[i]
		s.Alone, s.Cumulative, s.Published = orNothing(s.Alone), orNothing(s.Cumulative), orNothing(s.Published)
	}
}

func orNothing(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return x
}

func (s *Step) rawEvents() []privacy.Event {
	events := make([]privacy.Event, len(s.Events))
	for i, e := range s.Events {
		events[i] = e.Event
	}
	return events
}

func (c *compiler) epsilon(acc privacy.Accountant, events []privacy.Event) *float64 {
	eps, err := acc.Epsilon(events, c.spec.Privacy.Adjacency, c.spec.Privacy.Delta)
	if err != nil {
		c.calibrationFault(err)
		return nil
	}
	return &eps
}

// published sets what the papers' own accounting gives, summed over the stages as
// papers add them; none where a paying stage has no such accounting.
func (c *compiler) published(paid []*Step, delta float64) {
	sum, all := 0.0, true
	for _, s := range paid {
		p := s.Work.Pricing.Published
		if p == nil {
			all = false
			continue
		}
		eps, err := p.Epsilon(*s.NoiseMultiplier, delta)
		if err != nil {
			all = false
			c.plan.Findings = append(c.plan.Findings, pipeline.Finding{Rule: "W33", Level: pipeline.LevelNote, Stage: s.ID,
				Message: "the published accounting gives no number: " + err.Error()})
			continue
		}
		s.Published, s.PublishedMethod = &eps, p.Method
		sum += eps
	}
	if all {
		c.plan.Epsilon.Published = &sum
	}
}

// overBudget refuses a bill above the budget, which fixed noise can cause, and
// warns of numbers that promise little.
func (c *compiler) overBudget() {
	t, proven := &c.spec.Privacy, c.plan.Epsilon.Proven
	if proven != nil && !(*proven <= float64(t.Epsilon)*(1+1e-9)) { // no number is over every budget
		c.fault("privacy.epsilon", fmt.Sprintf("%.5g, and the bill comes to %s", float64(t.Epsilon), privacy.Bound(*proven)),
			"no less than the bill, or the fixed noise greater", spec.RuleBudget)
	}
	if proven != nil && *proven > 10 {
		c.warn("W33", fmt.Sprintf("a proven epsilon of %s promises little", privacy.Bound(*proven)),
			"a smaller budget, or privacy.acknowledge: {W33: the reason for this one}")
	}
	c.largeDelta()
}

// largestDelta is what a table may have of delta whose rows nobody counts in public: one
// over the rows of a small one.
const largestDelta = 1e-3

// largeDelta warns of a delta under which single rows may be published whole.
func (c *compiler) largeDelta() {
	switch n, delta := c.spec.Dataset.RowsPublic, c.spec.Privacy.Delta; {
	case n > 0 && delta > 1/float64(n):
		c.warn("W07", fmt.Sprintf("delta %g is above one over the %d public rows", delta, n), "a smaller delta")
	case n == 0 && delta > largestDelta:
		c.warn("W07", fmt.Sprintf("delta %g is above %g: it allows that one row in %.0f is published as it is", delta,
			largestDelta, 1/delta),
			"a delta below one over the order of magnitude of the rows")
	}
}

func (c *compiler) warn(rule, message, fix string) {
	c.warning(pipeline.Finding{Rule: rule, Level: pipeline.LevelWarning, Message: message, Fix: fix})
}

// warning adds a finding, with the reason for which the spec accepts it.
func (c *compiler) warning(f pipeline.Finding) {
	f.Acknowledged = c.spec.Privacy.Acknowledge[f.Rule]
	c.plan.Findings = append(c.plan.Findings, f)
}
