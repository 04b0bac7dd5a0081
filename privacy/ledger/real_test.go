package ledger

import (
	"errors"
	"math"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

func training(id string, steps int64, adjacency privacy.Adjacency) Charge {
	c := charge(id, 0)
	c.Adjacency = adjacency
	c.Event = privacy.Repeated{Count: steps, Event: privacy.PoissonSampled{SamplingRate: 0.01, Event: privacy.Gaussian{NoiseMultiplier: 1.2}}}
	return c
}

func byName(t *testing.T, name string) privacy.Accountant {
	t.Helper()
	acc, err := account.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return acc
}

func alone(t *testing.T, acc privacy.Accountant, adjacency privacy.Adjacency, events ...privacy.Event) float64 {
	t.Helper()
	eps, err := acc.Epsilon(events, adjacency, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	return eps
}

// Two runs of 500 steps are one of 1000, far below twice the epsilon of one; a
// charge under add_remove counts under replace_one as if it had been made there.
func TestSumWithAccountants(t *testing.T) {
	for _, name := range []string{"pld", "rdp"} {
		acc := byName(t, name)
		l, _ := New(&memory{}, dataset, ticking())
		laplace := charge("count", 0)
		laplace.Event = privacy.DiscreteLaplace{NoiseMultiplier: 20}
		if _, err := l.Append(nil, training("a", 500, privacy.AddRemove), laplace, training("b", 500, privacy.AddRemove)); err != nil {
			t.Fatal(err)
		}
		whole := []privacy.Event{training("", 1000, "").Event, laplace.Event}
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			total, err := Sum(l.Entries(), acc, adj, 1e-5)
			want := alone(t, acc, adj, whole...)
			if err != nil || math.Abs(total.Epsilon-want) > 1e-9*want || total.Epsilon >= 1.9*alone(t, acc, adj, training("", 500, "").Event) {
				t.Errorf("%s %s: %+v, want %v (%v)", name, adj, total, want, err)
			}
		}
		if _, err := l.Append(nil, training("c", 1, privacy.ReplaceOne)); err != nil {
			t.Fatal(err)
		}
		total, err := Sum(l.Entries(), acc, privacy.ReplaceOne, 1e-5)
		if want := alone(t, acc, privacy.ReplaceOne, append(whole, training("", 1, "").Event)...); err != nil || math.Abs(total.Epsilon-want) > 1e-9*want {
			t.Errorf("%s mixed: %+v, want %v (%v)", name, total, want, err)
		}
		if total, err := Sum(l.Entries(), acc, privacy.AddRemove, 1e-5); err != nil || !math.IsInf(total.Epsilon, 1) {
			t.Errorf("%s mixed under add_remove: %+v, %v", name, total, err)
		}
	}
}

// A cap composes too: what two runs spend apart would pass it, together they fit.
func TestCapWithAccountants(t *testing.T) {
	for _, name := range []string{"pld", "rdp"} {
		acc := byName(t, name)
		one, two := alone(t, acc, privacy.ReplaceOne, training("", 500, "").Event), alone(t, acc, privacy.ReplaceOne, training("", 1000, "").Event)
		limit := &Cap{Epsilon: (2*one + two) / 2, Delta: 1e-5, Accountant: acc, Adjacency: privacy.ReplaceOne}
		l, _ := New(&memory{}, dataset, ticking())
		for _, id := range []string{"a", "b"} {
			if _, err := l.Append(limit, training(id, 500, privacy.ReplaceOne)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if _, err := l.Append(limit, training("c", 500, privacy.ReplaceOne)); !errors.Is(err, ErrOverBudget) {
			t.Errorf("%s: a third run passes: %v", name, err)
		}
		unsupported := charge("f", 0)
		unsupported.Event = privacy.SampledWithoutReplacement{SampleSize: 1, Population: 2, Event: privacy.PoissonSampled{SamplingRate: 0.5, Event: privacy.Pure{Epsilon: 1}}}
		if _, err := l.Append(limit, unsupported); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%s: what the accountant cannot add up passes: %v", name, err)
		}
	}
}
