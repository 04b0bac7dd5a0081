package ledger

import (
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
		l, _ := newLedger(&memory{}, dataset, ticking())
		laplace := charge("count", 0)
		laplace.Event = privacy.DiscreteLaplace{NoiseMultiplier: 20}
		if _, err := l.Append(nil, training("a", 500, privacy.AddRemove), laplace, training("b", 500, privacy.AddRemove)); err != nil {
			t.Fatal(err)
		}
		whole := []privacy.Event{training("", 1000, "").Event, laplace.Event}
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			total, err := Sum(l.Entries(), acc, adj, Unit{}, 1e-5)
			want := alone(t, acc, adj, whole...)
			if err != nil || math.Abs(total.Epsilon-want) > 1e-9*want || total.Epsilon >= 1.9*alone(t, acc, adj, training("", 500, "").Event) {
				t.Errorf("%s %s: %+v, want %v (%v)", name, adj, total, want, err)
			}
		}
		if _, err := l.Append(nil, training("c", 1, privacy.ReplaceOne)); err != nil {
			t.Fatal(err)
		}
		total, err := Sum(l.Entries(), acc, privacy.ReplaceOne, Unit{}, 1e-5)
		if want := alone(t, acc, privacy.ReplaceOne, append(whole, training("", 1, "").Event)...); err != nil || math.Abs(total.Epsilon-want) > 1e-9*want {
			t.Errorf("%s mixed: %+v, want %v (%v)", name, total, want, err)
		}
		if total, err := Sum(l.Entries(), acc, privacy.AddRemove, Unit{}, 1e-5); err != nil || !math.IsInf(total.Epsilon, 1) {
			t.Errorf("%s mixed under add_remove: %+v, %v", name, total, err)
		}
	}
}
