// Package bill makes the bill of a plan: it prices mechanisms for all that one unit changes, finds the least noise
// that meets the budget, and adds up what all stages spend. It opens no data.
package bill

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
)

// Stage is a stage of a plan that spends: the step that the bill fills in, its work, and what one unit changes of what
// it reads.
type Stage struct {
	*pipeline.Step
	Work   pipeline.Work
	Change Change
}

// proven reports whether the events of a stage bound what it releases.
func (s *Stage) proven() bool { return s.Unproven == (privacy.Unproven{}) }

// Bill is the bill of one plan. Findings lists what it warns of, Faults what it refuses.
type Bill struct {
	Findings []pipeline.Finding
	Faults   spec.Diagnostics

	spec *spec.Spec
	plan *pipeline.Plan
	paid []*Stage
}

// New returns the empty bill of a plan whose stages that spend are paid, in the order of the plan.
func New(s *spec.Spec, plan *pipeline.Plan, paid []*Stage) *Bill {
	return &Bill{spec: s, plan: plan, paid: paid}
}

// CheckShares refuses shares of stages that spend nothing, or whose noise the
// spec fixes, and spending stages without a share.
func (b *Bill) CheckShares() {
	split := b.spec.Privacy.Split
	if b.spec.Privacy.Epsilon.Infinite() {
		return
	}
	open := map[string]bool{}
	for _, s := range b.paid {
		open[s.ID] = s.Work.Pricing.Scale == 0
	}
	for _, id := range slices.Sorted(maps.Keys(split)) {
		planned := slices.ContainsFunc(b.plan.Steps, func(s *pipeline.Step) bool { return s.ID == id })
		if isOpen, spends := open[id]; planned && (!spends || !isOpen) {
			b.fault("privacy.split."+id, "a share for a stage that "+why(spends), "shares of stages whose noise the budget sets",
				"W19")
		}
	}
	var missing []string
	for _, s := range b.paid {
		if _, ok := split[s.ID]; open[s.ID] && !ok && (len(split) > 0 || countOpen(open) > 1) {
			missing = append(missing, s.ID)
		}
	}
	if len(missing) > 0 {
		b.fault("privacy.split", "without a share for "+strings.Join(missing, ", "),
			"one share for each stage that spends, summing to 1", "")
	}
}

func countOpen(open map[string]bool) int {
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

// AddUp calibrates the noise of the open stages to the budget that the fixed
// ones leave, and adds up what all stages spend, into the steps of the plan.
// What m holds of equal events is not computed again.
func (b *Bill) AddUp(m *account.Memory) {
	if b.spec.Privacy.Epsilon.Infinite() || len(b.paid) == 0 {
		b.withoutNoise()
		return
	}
	acc, err := account.ByName(b.spec.Privacy.Accountant)
	if err != nil {
		b.fault("privacy.accountant", b.spec.Privacy.Accountant, err.Error(), "")
		return
	}
	acc = m.Remembering(acc)
	if err := b.calibrate(acc); err != nil {
		b.calibrationFault(err)
		return
	}
	b.total(acc)
}

// withoutNoise makes the bill of a plan that draws no noise.
func (b *Bill) withoutNoise() {
	for _, s := range b.paid {
		if err := b.settle(s, 0); err != nil {
			b.Faults = append(b.Faults, b.spec.Refusal("", s.ID, "stages."+s.ID, err.Error(), "priced", ""))
		}
		s.Events = []privacy.JSON{}
	}
	if b.spec.Privacy.Epsilon.Infinite() {
		b.plan.Epsilon.Reason = "no privacy is claimed"
		return
	}
	zero := 0.0
	b.plan.Epsilon.Proven = &zero
}

// calibrate sets every step's scale, mechanisms and events.
func (b *Bill) calibrate(acc privacy.Accountant) error {
	t := &b.spec.Privacy
	proven, unproven := splitProven(b.paid)
	left, err := b.calibratePublished(acc, proven, unproven)
	if err != nil {
		return err
	}
	stages := make([]calibrate.Stage, len(proven))
	for i, s := range proven {
		stages[i] = calibrate.Stage{Name: s.ID, Fixed: s.Work.Pricing.Scale, Share: b.share(s),
			Events: func(scale float64) []privacy.Event { return b.events(s, scale) }}
	}
	scales, err := calibrate.Joint(acc, calibrate.Target{Epsilon: left, Delta: t.Delta, Adjacency: t.Adjacency}, stages)
	if err != nil {
		return err
	}
	for i, s := range proven {
		if err := b.settleAt(s, scales[i]); err != nil {
			return err
		}
	}
	return nil
}

// settleAll fixes the steps at the noise that the spec says.
func (b *Bill) settleAll(steps []*Stage) error {
	for _, s := range steps {
		if err := b.settleAt(s, s.Work.Pricing.Scale); err != nil {
			return err
		}
	}
	return nil
}

// settleAt fixes a step at a scale, and says where that comes from.
func (b *Bill) settleAt(s *Stage, scale float64) error {
	if err := b.settle(s, scale); err != nil {
		return fmt.Errorf("stage %s: %w", s.ID, err)
	}
	s.NoiseMultiplier, s.Calibrated = &scale, s.Work.Pricing.Scale == 0
	if s.Calibrated {
		share := b.share(s)
		s.Share = &share
	}
	return nil
}

// events returns the events of a step's spends at a scale. A spend that has none there (a
// scale at the end of the search, beyond what its mechanism can do) is taken for
// one without any bound, so that the search turns away from it.
func (b *Bill) events(s *Stage, scale float64) []privacy.Event {
	list := make([]privacy.Event, len(s.Work.Spends))
	for i, spend := range s.Work.Spends {
		p, err := s.Change.Price(spend, scale, b.spec.Privacy.Adjacency)
		if list[i] = p.Event.Event; err != nil {
			list[i] = privacy.Pure{Epsilon: math.Inf(1)}
		}
	}
	return list
}

// settle fixes the spends of a step at a scale.
func (b *Bill) settle(s *Stage, scale float64) error {
	s.Spends, s.Events = nil, []privacy.JSON{}
	for _, spend := range s.Work.Spends {
		p, err := s.Change.Price(spend, scale, b.spec.Privacy.Adjacency)
		if err != nil {
			return err
		}
		s.Spends, s.Events = append(s.Spends, p), append(s.Events, p.Event)
	}
	return nil
}

func (b *Bill) share(s *Stage) float64 {
	switch share, ok := b.spec.Privacy.Split[s.ID]; {
	case s.Work.Pricing.Scale > 0:
		return 0
	case ok:
		return share
	}
	return 1
}

// calibrationFault words why the budget cannot be met.
func (b *Bill) calibrationFault(err error) {
	rule := spec.RuleBudget
	if errors.Is(err, privacy.ErrUnsupported) {
		rule = "W33"
	}
	b.fault("privacy", fmt.Sprintf("a budget of epsilon %.5g at delta %g: %v", float64(b.spec.Privacy.Epsilon),
		b.spec.Privacy.Delta, err),
		"a budget that the stages can meet under this accountant", rule)
}

func (b *Bill) fault(path, found, accepted, rule string) {
	d := b.spec.Fault(path, found, accepted, "")
	d.Rule = rule
	b.Faults = append(b.Faults, d)
}
