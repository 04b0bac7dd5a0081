package book

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline/compile"
	"weir/privacy/account"
	"weir/privacy/ledger"
)

// Total is what the plans of an experiment come to together, as one plan fixed
// ahead: its runs are chosen before any of them is seen. shared tells of a step of the
// i-th plan whether an earlier plan pays for it. Plans without privacy charge nothing and
// do not count; the terms are those of the first other one.
func Total(plans []*compile.Plan, shared func(i int, s *compile.Step) bool) (ledger.Total, error) {
	first := plans[max(0, slices.IndexFunc(plans, func(p *compile.Plan) bool { return !p.Budget.Infinite() }))]
	if first.Budget.Infinite() {
		return ledger.Total{Epsilon: math.Inf(1), Delta: first.Delta, Adjacency: first.Adjacency, Accountant: first.Accountant, Reason: "no run has privacy (epsilon: inf)"}, nil
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

// charges are those of a step of the i-th plan.
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
func capNote(entries []ledger.Entry, now *ledger.Cap) string {
	before, line := ledger.LastCap(entries)
	switch {
	case line == 0:
		return ""
	case now == nil:
		return fmt.Sprintf("the ledger was capped at %s; this spec has no budget, so nothing bounds what this and later runs spend together", terms(before))
	case !now.Looser(before):
		return ""
	case now.Unit.Column != before.Unit.Column || now.Adjacency != before.Adjacency:
		return fmt.Sprintf("the ledger was capped at %s for one %s, %s; this spec says %s for one %s, %s",
			terms(before), before.Unit, before.Adjacency, terms(*now), now.Unit, now.Adjacency)
	case now.Delta != before.Delta:
		return fmt.Sprintf("the ledger was capped at %s; this spec says %s", terms(before), terms(*now))
	}
	return fmt.Sprintf("the ledger was capped at %s; this spec says %g", terms(before), now.Epsilon)
}

func terms(c ledger.Cap) string { return fmt.Sprintf("epsilon %g (delta %g)", c.Epsilon, c.Delta) }
