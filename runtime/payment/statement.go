package payment

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
)

// Statement says how the ledger of a dataset stands, and how it would after a bill, in epsilon
// at Delta for one unit.
type Statement struct {
	Ledger    string            `json:"ledger"`
	Before    int               `json:"charges"`     // that the ledger holds
	Bill      int               `json:"new_charges"` // that are to be made
	Spent     Amount            `json:"spent"`
	After     Amount            `json:"after"`                    // the new charges
	Cap       *float64          `json:"budget_epsilon,omitempty"` // of the dataset; nil: it has none
	Room      *int              `json:"room,omitempty"`           // how many times more the new charges fit, or else the last one; nil: not known
	Note      string            `json:"note,omitempty"`           // where the budget is looser than it was for the last capped charge, or the ledger another one
	Adjacency privacy.Adjacency `json:"adjacency"`
	// Fixed is what the ledger holds if all of it was fixed in advance, where the filter of a budget has no measure for a
	// charge of it; nil elsewhere.
	Fixed *ledger.Total `json:"-"`
	// Uncapped reports that no budget can be set on the dataset as it stands, and UncappedAfter that none can be after
	// the new charges: no filter has a measure for all of them. Both are false where the spec has a budget.
	Uncapped, UncappedAfter bool `json:"-"`
}

// Statement adds up what runs have yet to pay. Under a budget of the dataset it is read by
// its filter, else as one plan that was fixed ahead.
func (b *Book) Statement(runs ...*Purse) (Statement, error) {
	if b.ledger == nil {
		return Statement{}, nil
	}
	bill, entries, plan := b.unpaid(runs), b.ledger.Entries(), runs[0].task.Plan
	s := Statement{Ledger: b.path, Before: len(entries), Bill: len(bill), Note: b.Note(), Adjacency: plan.Adjacency}
	after := slices.Clone(entries)
	for _, c := range bill {
		after = append(after, ledger.Entry{ID: c.ID, Stage: c.Stage, Name: c.Name, Event: privacy.JSON{Event: c.Event},
			Adjacency: c.Adjacency, Unit: c.Unit, Unproven: c.Unproven})
	}
	sum, err := b.sum(plan)
	if err != nil {
		return s, err
	}
	if s.Spent.Total, err = sum(entries); err == nil {
		s.After.Total, err = sum(after)
	}
	if err == nil && b.limit != nil {
		s.Cap = &b.limit.Epsilon
		err = s.fixed(entries, plan)
	} else if err == nil {
		err = s.uncapped(entries, after, plan)
	}
	if err == nil && b.limit != nil && len(after) > 0 && !math.IsInf(s.After.Epsilon, 1) {
		err = s.count(*b.limit, after)
	}
	return s, err
}

// fixed adds what the ledger holds as one plan fixed in advance, where the filter has no sum of it.
func (s *Statement) fixed(entries []ledger.Entry, plan *compile.Plan) error {
	if !s.Spent.Unmeasured {
		return nil
	}
	accountant, err := account.ByName(plan.Accountant)
	if err != nil {
		return err
	}
	total, err := ledger.Sum(entries, accountant, plan.Adjacency, unitOf(plan), plan.Delta)
	if err == nil && !math.IsInf(total.Epsilon, 1) {
		s.Fixed = &total
	}
	return err
}

// uncapped notes whether a budget can be set on the dataset, now and after the new charges.
func (s *Statement) uncapped(entries, after []ledger.Entry, plan *compile.Plan) error {
	can, err := ledger.CanBeCapped(entries, plan.Adjacency, unitOf(plan))
	s.Uncapped = !can
	if err == nil {
		can, err = ledger.CanBeCapped(after, plan.Adjacency, unitOf(plan))
		s.UncappedAfter = !can
	}
	return err
}

// measured returns a sum that takes what the filter of a budget has no measure for as without a bound, which Afford
// refuses.
func measured(sum func([]ledger.Entry) (ledger.Total, error)) func([]ledger.Entry) (ledger.Total, error) {
	return func(e []ledger.Entry) (ledger.Total, error) {
		t, err := sum(e)
		var none *ledger.UnmeasuredError
		if errors.As(err, &none) {
			t.Epsilon, t.Unmeasured, err = math.Inf(1), true, nil
			t.Reason = "the filter " + none.Filter.Name + " has no measure for a charge"
		}
		return t, err
	}
}

// count says how many times more the new charges fit into a budget or, where there are none, the last charge.
func (s *Statement) count(limit ledger.Cap, after []ledger.Entry) error {
	n, known, err := limit.Room(after, after[min(s.Before, len(after)-1):])
	if known {
		s.Room = &n
	}
	return err
}

// Amount is a total that is written with null for an infinite epsilon, which JSON has no
// number for.
type Amount struct{ ledger.Total }

// MarshalJSON writes what was added up, and how.
func (a Amount) MarshalJSON() ([]byte, error) {
	epsilon := &a.Epsilon
	if math.IsInf(a.Epsilon, 1) {
		epsilon = nil
	}
	return json.Marshal(map[string]any{"epsilon": epsilon, "delta": a.Delta, "unit": a.Unit.String(),
		"accountant": a.Accountant, "reason": a.Reason})
}

// sum returns how totals of the ledger are read for a plan.
func (b *Book) sum(plan *compile.Plan) (func([]ledger.Entry) (ledger.Total, error), error) {
	unit := unitOf(plan)
	if b.limit != nil && b.limit.Filter != "" {
		f := ledger.Filter{Name: b.limit.Filter, Order: b.limit.Order}
		return measured(func(e []ledger.Entry) (ledger.Total, error) {
			return ledger.SumFilter(e, f, plan.Adjacency, unit, b.limit.Delta)
		}), nil
	}
	accountant, err := account.ByName(plan.Accountant)
	return func(e []ledger.Entry) (ledger.Total, error) {
		return ledger.Sum(e, accountant, plan.Adjacency, unit, plan.Delta)
	}, err
}

// Together returns what the plans of an experiment come to as one plan fixed ahead, given the recipes of their stages,
// and shared tells of a stage of the i-th plan whether an earlier one pays for it. A paid stage that several of them
// have by an equal recipe is one release and counts once. A stage without a recipe counts in each, which is a bound
// too.
func Together(plans []*compile.Plan, recipes []map[string]string) (total ledger.Total,
	shared func(i int, s *compile.Step) bool, err error) {
	charging := map[string]int{} // the first plan of each recipe
	for i := range plans {
		for _, recipe := range recipes[i] {
			if _, known := charging[recipe]; !known {
				charging[recipe] = i
			}
		}
	}
	shared = func(i int, s *compile.Step) bool {
		first, known := charging[recipes[i][s.ID]]
		return known && first < i
	}
	total, err = sumPlans(plans, shared)
	return total, shared, err
}

// sumPlans returns what the plans of an experiment come to together, as one plan fixed
// ahead: its runs are chosen before any of them is seen. shared tells of a step of the
// i-th plan whether an earlier plan pays for it. Plans without privacy charge nothing and
// do not count; the first other plan gives the terms.
func sumPlans(plans []*compile.Plan, shared func(i int, s *compile.Step) bool) (ledger.Total, error) {
	first := plans[max(0, slices.IndexFunc(plans, func(p *compile.Plan) bool { return !p.Budget.Infinite() }))]
	if first.Budget.Infinite() {
		return ledger.Total{Epsilon: math.Inf(1), Delta: first.Delta, Adjacency: first.Adjacency,
			Accountant: first.Accountant, Reason: "no run has privacy (epsilon: inf)"}, nil
	}
	accountant, err := account.ByName(first.Accountant)
	if err != nil {
		return ledger.Total{}, err
	}
	var entries []ledger.Entry
	for i, p := range plans {
		for j := range p.Steps {
			if s := &p.Steps[j]; !p.Budget.Infinite() && !shared(i, s) {
				entries = append(entries, charges(i, p, s)...)
			}
		}
	}
	total, err := ledger.Sum(entries, accountant, first.Adjacency, unitOf(first), first.Delta)
	if line, reason, is := strings.Cut(total.Reason, ": "); is && strings.HasPrefix(line, "line ") {
		total.Reason = reason // these charges stand in no file yet
	}
	return total, err
}

// charges returns the charges of a step of the i-th plan.
func charges(i int, p *compile.Plan, s *compile.Step) (entries []ledger.Entry) {
	for _, spend := range s.Spends {
		id := fmt.Sprintf("run %d (%s), %s", i+1, p.Spec.Name, s.ID)
		if spend.Name != s.ID {
			id += "/" + spend.Name
		}
		entries = append(entries, ledger.Entry{ID: id, Event: spend.Event,
			Adjacency: p.Adjacency, Unit: unitOf(p), Unproven: s.Unproven.String()})
	}
	return entries
}

// capNote tells the data's owner of a spec that promises less than the last capped
// charge did: the budget is a line of the spec, so whoever edits it raises or drops
// the cap. It is empty where nothing was loosened.
func capNote(entries []ledger.Entry, limit *ledger.Cap) string {
	before, line := ledger.LastCap(entries)
	switch {
	case line == 0:
		return ""
	case limit == nil:
		return fmt.Sprintf(
			"the ledger was capped at %s; this spec has no budget, so nothing bounds what this and later runs "+
				"spend together", capText(before))
	case !limit.Looser(before):
		return ""
	case limit.Unit.Column != before.Unit.Column || limit.Adjacency != before.Adjacency:
		return fmt.Sprintf("the ledger was capped at %s for one %s, %s; this spec says %s for one %s, %s",
			capText(before), before.Unit, before.Adjacency, capText(*limit), limit.Unit, limit.Adjacency)
	case limit.Delta != before.Delta:
		return fmt.Sprintf("the ledger was capped at %s; this spec says %s", capText(before), capText(*limit))
	}
	return fmt.Sprintf("the ledger was capped at %s; this spec says %g", capText(before), limit.Epsilon)
}

func capText(c ledger.Cap) string { return fmt.Sprintf("epsilon %g (delta %g)", c.Epsilon, c.Delta) }

// ChargedBy lists the charges that a run made, and the runs that made those which it reused.
func ChargedBy(rec *record.Run) (ids []string, sources map[string]string) {
	ids, sources = []string{}, map[string]string{}
	for _, c := range rec.Charges {
		if c.Run == "" {
			ids = append(ids, c.ID)
		} else {
			sources[c.Stage] = c.Run
		}
	}
	return ids, sources
}

// ChargedText says what a run charged now, what before it was interrupted or removed, of which before has the ids, and
// what other runs charged.
func ChargedText(rec *record.Run, before []string) string {
	ids, sources := ChargedBy(rec)
	text := words.Plural(len(ids)-len(before), "new charge")
	for _, stage := range rec.Stages {
		paid, total := paidBefore(rec, before, stage.ID)
		switch {
		case paid == 0:
		case paid == total:
			text += fmt.Sprintf("; %s was paid when this run was begun, and is not charged again", stage.ID)
		default:
			text += fmt.Sprintf("; of the %d charges of %s %d had been made when this run was begun, and are not made again",
				total,
				stage.ID, paid)
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(sources)) {
		text += fmt.Sprintf("; %s reused, charged in run %s", stage, sources[stage])
	}
	return text
}

// paidBefore returns how many charges of a stage were made before the run was interrupted or removed, of how many.
func paidBefore(rec *record.Run, before []string, stage string) (paid, total int) {
	for _, c := range rec.Charges {
		if c.Stage != stage {
			continue
		}
		total++
		if slices.Contains(before, c.ID) {
			paid++
		}
	}
	return paid, total
}
