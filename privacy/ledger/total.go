package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/privacy"
)

// Total is what the charges of a ledger add up to.
type Total struct {
	Epsilon    float64           `json:"epsilon"` // nats; +Inf where nothing is proven, and Reason says why
	Delta      float64           `json:"delta"`
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Unit       Unit              `json:"unit"`
	Accountant string            `json:"accountant"`
	Charges    int               `json:"charges"`
	Reason     string            `json:"reason,omitempty"`
}

// Sum composes all events of the ledger under one accountant for a change of one
// unit under the adjacency; epsilons are not added up. The bound holds for a list
// of charges that was fixed in advance, as one plan is; for runs chosen after looking
// at earlier ones use SumFilter.
//
// Charges for another unit or adjacency are converted where something is proven
// (docs/design/ledger.md); else epsilon is +Inf and Reason names the line, as
// for a charge without a proven bound.
func Sum(entries []Entry, accountant privacy.Accountant, adjacency privacy.Adjacency, unit Unit, delta float64) (Total, error) {
	t := Total{Delta: delta, Adjacency: adjacency, Unit: unit, Accountant: accountant.Name(), Charges: len(entries)}
	r, err := newReading(entries, adjacency, unit)
	if err != nil {
		return t, fmt.Errorf("ledger: total: %w", err)
	}
	all, reason := r.all(entries)
	if all == nil && len(entries) > 0 {
		return t.none(reason), nil
	}
	events, err := tally(all)
	if err != nil {
		return t, fmt.Errorf("ledger: %w", err)
	}
	if t.Epsilon, err = accountant.Epsilon(events, r.pairs, delta); err != nil {
		return t, fmt.Errorf("ledger: total under %s: %w", accountant.Name(), err)
	}
	t.Reason = reason
	return t, nil
}

// all returns the events of all entries and how they were read, or nil and the
// first line that has none.
func (r reading) all(entries []Entry) (events []privacy.Event, reason string) {
	var notes []string
	for i, e := range entries {
		event, why := r.event(e)
		if why != "" {
			return nil, fmt.Sprintf("line %d: charge %q %s", i+1, e.ID, why)
		}
		for _, note := range r.notes(e) {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		events = append(events, event)
	}
	return events, strings.Join(notes, "; ")
}

func (t Total) none(reason string) Total {
	t.Epsilon, t.Reason = math.Inf(1), reason
	return t
}

// tally writes equal events as one repeated event, in order of first appearance;
// composition does not depend on the order.
func tally(events []privacy.Event) ([]privacy.Event, error) {
	place, counts := map[string]int{}, []int64{}
	var out []privacy.Event
	for _, e := range events {
		text, err := privacy.MarshalEvent(e)
		if err != nil {
			return nil, err
		}
		i, ok := place[string(text)]
		if !ok {
			i = len(out)
			place[string(text)] = i
			out, counts = append(out, e), append(counts, 0)
		}
		counts[i]++
	}
	for i, n := range counts {
		if n > 1 {
			out[i] = privacy.Repeated{Count: n, Event: out[i]}
		}
	}
	return out, nil
}
