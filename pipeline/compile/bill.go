package compile

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
)

// paid lists the steps that spend.
func (c *compiler) paid() []*Step {
	var paid []*Step
	for i := range c.plan.Steps {
		if len(c.plan.Steps[i].Work.Spends) > 0 {
			paid = append(paid, &c.plan.Steps[i])
		}
	}
	return paid
}

// splitNames refuses shares of stages that spend nothing, or whose noise the
// spec fixes, and spending stages without a share.
func (c *compiler) splitNames() {
	split := c.spec.Privacy.Split
	if c.spec.Privacy.Epsilon.Infinite() {
		return
	}
	open := map[string]bool{}
	for _, s := range c.paid() {
		open[s.ID] = s.Work.Pricing.Scale == 0
	}
	for _, id := range slices.Sorted(maps.Keys(split)) {
		planned := c.plan.Step(id) != nil
		if isOpen, spends := open[id]; planned && (!spends || !isOpen) {
			c.fault("privacy.split."+id, "a share for a stage that "+why(spends), "shares of stages whose noise the budget sets",
				"W19")
		}
	}
	var missing []string
	for _, s := range c.paid() {
		if _, ok := split[s.ID]; open[s.ID] && !ok && (len(split) > 0 || c.countOpen(open) > 1) {
			missing = append(missing, s.ID)
		}
	}
	if len(missing) > 0 {
		c.fault("privacy.split", "without a share for "+strings.Join(missing, ", "),
			"one share for each stage that spends, summing to 1", "")
	}
}

func (c *compiler) countOpen(open map[string]bool) int {
	n := 0
	for _, is := range open {
		if is {
			n++
		}
	}
	return n
}

func why(spends bool) string {
	if spends {
		return "fixes its noise_multiplier itself"
	}
	return "spends nothing"
}

// bill calibrates the noise of the open stages to the budget that the fixed
// ones leave, and adds everything up.
func (c *compiler) bill() {
	paid := c.paid()
	if c.spec.Privacy.Epsilon.Infinite() || len(paid) == 0 {
		c.freeBill(paid)
		return
	}
	acc, err := account.ByName(c.spec.Privacy.Accountant)
	if err != nil {
		c.fault("privacy.accountant", c.spec.Privacy.Accountant, err.Error(), "")
		return
	}
	if err := c.calibrate(acc, paid); err != nil {
		c.calibrationFault(err)
		return
	}
	c.total(acc, paid)
}

// freeBill makes the bill of a plan that draws no noise.
func (c *compiler) freeBill(paid []*Step) {
	for _, s := range paid {
		if err := c.settle(s, 0); err != nil {
			c.refuse(s.ID, "", err.Error(), "priced")
		}
		s.Events = []privacy.JSON{}
	}
	if c.spec.Privacy.Epsilon.Infinite() {
		c.plan.Epsilon.Reason = "no privacy is claimed"
		return
	}
	zero := 0.0
	c.plan.Epsilon.Proven = &zero
}

// calibrate sets every step's scale, mechanisms and events.
func (c *compiler) calibrate(acc privacy.Accountant, paid []*Step) error {
	t := &c.spec.Privacy
	proven, unproven := splitProven(paid)
	left, err := c.calibratePublished(acc, proven, unproven)
	if err != nil {
		return err
	}
	stages := make([]calibrate.Stage, len(proven))
	for i, s := range proven {
		stages[i] = calibrate.Stage{Name: s.ID, Fixed: s.Work.Pricing.Scale, Share: c.share(s),
			Events: func(scale float64) []privacy.Event { return c.events(s, scale) }}
	}
	scales, err := calibrate.Joint(acc, calibrate.Target{Epsilon: left, Delta: t.Delta, Adjacency: t.Adjacency}, stages)
	if err != nil {
		return err
	}
	for i, s := range proven {
		if err := c.settleAt(s, scales[i]); err != nil {
			return err
		}
	}
	return nil
}

// settleAll fixes the steps at the noise that the spec says.
func (c *compiler) settleAll(steps []*Step) error {
	for _, s := range steps {
		if err := c.settleAt(s, s.Work.Pricing.Scale); err != nil {
			return err
		}
	}
	return nil
}

// settleAt fixes a step at a scale, and says where that comes from.
func (c *compiler) settleAt(s *Step, scale float64) error {
	if err := c.settle(s, scale); err != nil {
		return fmt.Errorf("stage %s: %w", s.ID, err)
	}
	s.NoiseMultiplier, s.Calibrated = &scale, s.Work.Pricing.Scale == 0
	if s.Calibrated {
		share := c.share(s)
		s.Share = &share
	}
	return nil
}

// events returns the events of a step's spends at a scale. A spend that has none there (a
// scale at the end of the search, beyond what its mechanism can do) is taken for
// one without any bound, so that the search turns away from it.
func (c *compiler) events(s *Step, scale float64) []privacy.Event {
	list := make([]privacy.Event, len(s.Work.Spends))
	for i, spend := range s.Work.Spends {
		p, err := c.price(s, spend, scale)
		if list[i] = p.Event.Event; err != nil {
			list[i] = privacy.Pure{Epsilon: math.Inf(1)}
		}
	}
	return list
}

// settle fixes the spends of a step at a scale.
func (c *compiler) settle(s *Step, scale float64) error {
	s.Spends, s.Events = nil, []privacy.JSON{}
	for _, spend := range s.Work.Spends {
		p, err := c.price(s, spend, scale)
		if err != nil {
			return err
		}
		s.Spends, s.Events = append(s.Spends, p), append(s.Events, p.Event)
	}
	return nil
}

func (c *compiler) share(s *Step) float64 {
	switch share, ok := c.spec.Privacy.Split[s.ID]; {
	case s.Work.Pricing.Scale > 0:
		return 0
	case ok:
		return share
	}
	return 1
}

// calibrationFault words why the budget cannot be met.
func (c *compiler) calibrationFault(err error) {
	rule := spec.RuleBudget
	if errors.Is(err, privacy.ErrUnsupported) {
		rule = "W33"
	}
	c.fault("privacy", fmt.Sprintf("a budget of epsilon %.5g at delta %g: %v", float64(c.spec.Privacy.Epsilon),
		c.spec.Privacy.Delta, err),
		"a budget that the stages can meet under this accountant", rule)
}

func (c *compiler) fault(path, found, accepted, rule string) {
	d := c.spec.Fault(path, found, accepted, "")
	d.Rule = rule
	c.faults = append(c.faults, d)
}
