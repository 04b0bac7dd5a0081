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
//     adding one, a change of two, so each event is taken for a group of two
//     (privacy.Group) under add_remove. The two parts are joined by basic
//     composition, each with half of delta, since an accountant composes under
//     one adjacency at a time.
//   - add_remove asked, replace_one charged: nothing follows, because a
//     replace_one guarantee may reveal the number of units. Epsilon is +Inf.
//
// A charge without a proven bound makes epsilon +Inf. Reason names the line.
func Sum(entries []Entry, accountant privacy.Accountant, adjacency privacy.Adjacency, delta float64) (Total, error) {
	t := Total{Delta: delta, Adjacency: adjacency, Accountant: accountant.Name(), Charges: len(entries)}
	var same, other []privacy.Event
	for i, e := range entries {
		switch {
		case e.Event.Event == nil || e.Unproven != "":
			return t.none("line %d: charge %q has no proven bound: %s", i+1, e.ID, e.Unproven), nil
		case e.Adjacency == adjacency:
			same = append(same, e.Event.Event)
		case adjacency == privacy.AddRemove:
			return t.none("line %d: charge %q holds under replace_one, from which nothing follows under add_remove", i+1, e.ID), nil
		default:
			pair, err := privacy.Group(e.Event.Event, 2)
			if err != nil {
				return t, fmt.Errorf("ledger: line %d: charge %q, made under add_remove, under replace_one: %w", i+1, e.ID, err)
			}
			other = append(other, pair)
		}
	}
	err := t.add(accountant, same, other)
	return t, err
}

// add composes the events of both adjacencies, each with its share of delta.
func (t *Total) add(accountant privacy.Accountant, same, other []privacy.Event) error {
	delta := t.Delta
	if len(same) > 0 && len(other) > 0 {
		delta /= 2
		t.Reason = "charges under both adjacencies, joined by basic composition"
	}
	for _, part := range []struct {
		adjacency privacy.Adjacency
		events    []privacy.Event
	}{{t.Adjacency, same}, {privacy.AddRemove, other}} {
		if len(part.events) == 0 {
			continue
		}
		events, err := tally(part.events)
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		epsilon, err := accountant.Epsilon(events, part.adjacency, delta)
		if err != nil {
			return fmt.Errorf("ledger: total under %s: %w", accountant.Name(), err)
		}
		t.Epsilon += epsilon
	}
	return nil
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
