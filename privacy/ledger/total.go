package ledger

import (
	"fmt"
	"math"

	"weir/privacy"
)

// Total is what the charges of a ledger come to.
type Total struct {
	Epsilon    float64           `json:"epsilon"` // nats; +Inf where nothing is proven, and Reason says why
	Delta      float64           `json:"delta"`
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Accountant string            `json:"accountant"`
	Charges    int               `json:"charges"`
	Reason     string            `json:"reason,omitempty"`
}

// Sum composes all events of the ledger under one accountant; epsilons are not
// added up. Charges made under the other adjacency are handled as follows:
//
//   - replace_one asked, add_remove charged: replacing a unit is removing one and
//     adding one, so each event is taken for that (privacy.Exchanged) and composed
//     with the others.
//   - add_remove asked, replace_one charged: nothing follows, because a
//     replace_one guarantee may reveal the number of units. Epsilon is +Inf.
//
// A charge without a proven bound makes epsilon +Inf. Reason names the line.
func Sum(entries []Entry, accountant privacy.Accountant, adjacency privacy.Adjacency, delta float64) (Total, error) {
	t := Total{Delta: delta, Adjacency: adjacency, Accountant: accountant.Name(), Charges: len(entries)}
	var all []privacy.Event
	for i, e := range entries {
		event := e.Event.Event
		switch {
		case event == nil || e.Unproven != "":
			return t.none("line %d: charge %q has no proven bound: %s", i+1, e.ID, e.Unproven), nil
		case e.Adjacency != adjacency && adjacency == privacy.AddRemove:
			return t.none("line %d: charge %q holds under replace_one, from which nothing follows under add_remove", i+1, e.ID), nil
		case e.Adjacency != adjacency:
			var err error
			if event, err = privacy.Exchanged(event); err != nil {
				return t, fmt.Errorf("ledger: line %d: charge %q, made under add_remove, under replace_one: %w", i+1, e.ID, err)
			}
			t.Reason = "charges made under add_remove are counted as exchanges"
		}
		all = append(all, event)
	}
	events, err := tally(all)
	if err != nil {
		return t, fmt.Errorf("ledger: %w", err)
	}
	if t.Epsilon, err = accountant.Epsilon(events, adjacency, delta); err != nil {
		return t, fmt.Errorf("ledger: total under %s: %w", accountant.Name(), err)
	}
	return t, nil
}

func (t Total) none(format string, args ...any) Total {
	t.Epsilon, t.Reason = math.Inf(1), fmt.Sprintf(format, args...)
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
