package account

import (
	"errors"
	"math"
	"testing"

	"weir/privacy"
)

// What filters add up, against closed forms.
func TestWhatFiltersAdd(t *testing.T) {
	g := privacy.Gaussian{NoiseMultiplier: 2}
	events := []privacy.Event{g, privacy.Repeated{Count: 3, Event: g}, privacy.Composed{Events: []privacy.Event{g}}}
	for adjacency, want := range map[privacy.Adjacency]float64{privacy.AddRemove: 5.0 / 4, privacy.ReplaceOne: 5} {
		if got, err := SquaredMu(events, adjacency); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("mu^2 under %s: %v, must be %v (%v)", adjacency, got, want, err)
		}
		at, err := Divergence(events, adjacency) // a Gaussian has alpha mu^2/2
		if err != nil || math.Abs(at(7)-7*want/2) > 1e-9 {
			t.Errorf("divergence under %s: %v (%v)", adjacency, at(7), err)
		}
	}
	eps, delta, err := Plain([]privacy.Event{privacy.Laplace{NoiseMultiplier: 2}, privacy.Repeated{Count: 2, Event: privacy.Approximate{Epsilon: 1, Delta: 1e-6}}}, privacy.ReplaceOne)
	if err != nil || math.Abs(eps-3) > 1e-12 || math.Abs(delta-2e-6) > 1e-18 {
		t.Errorf("plain: %v, %v, %v", eps, delta, err)
	}
}

// A filter refuses what it cannot add up; it never takes part of an event.
func TestFiltersRefuse(t *testing.T) {
	g := privacy.Gaussian{NoiseMultiplier: 2}
	sampled := privacy.PoissonSampled{SamplingRate: 0.1, Event: g}
	for _, e := range []privacy.Event{sampled, privacy.DiscreteGaussian{NoiseMultiplier: 2}, privacy.Pure{Epsilon: 1}, privacy.ZCDP{Rho: 1},
		privacy.Parallel{Events: []privacy.Event{g}}, privacy.Composed{Events: []privacy.Event{g, sampled}}} {
		if mu, err := SquaredMu([]privacy.Event{e}, privacy.AddRemove); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("mu^2 of %+v is %v, %v", e, mu, err)
		}
	}
	for _, e := range []privacy.Event{g, sampled, privacy.DiscreteGaussian{NoiseMultiplier: 2}, privacy.ZCDP{Rho: 1}, privacy.Composed{Events: []privacy.Event{privacy.Pure{Epsilon: 1}, g}}} {
		if eps, _, err := Plain([]privacy.Event{e}, privacy.AddRemove); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("epsilon of %+v is %v, %v", e, eps, err)
		}
	}
	a := privacy.Approximate{Epsilon: 1, Delta: 1e-9}
	for _, e := range []privacy.Event{a, privacy.Repeated{Count: 2, Event: a}, privacy.PoissonSampled{SamplingRate: 0.1, Event: a}, privacy.Parallel{Events: []privacy.Event{a}}} {
		if _, err := Divergence([]privacy.Event{e}, privacy.AddRemove); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("the divergence of %+v leaves its delta out: %v", e, err)
		}
	}
	for i, orders := 1, FilterOrders(); i < len(orders); i++ {
		if orders[i] <= orders[i-1] {
			t.Errorf("orders %v and %v do not rise", orders[i-1], orders[i])
		}
	}
}
