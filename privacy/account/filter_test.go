package account

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weir/privacy"
)

// TestWhatFiltersAdd: what filters add up, against closed forms.
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
	eps, delta, err := SumOfParameters([]privacy.Event{privacy.Laplace{NoiseMultiplier: 2}, privacy.Repeated{Count: 2,
		Event: privacy.Approximate{Epsilon: 1, Delta: 1e-6}}}, privacy.ReplaceOne)
	if err != nil || math.Abs(eps-3) > 1e-12 || math.Abs(delta-2e-6) > 1e-18 {
		t.Errorf("plain: %v, %v, %v", eps, delta, err)
	}
}

// TestFiltersRefuse: a filter refuses what it cannot add up; it never takes part of an event.
func TestFiltersRefuse(t *testing.T) {
	g := privacy.Gaussian{NoiseMultiplier: 2}
	sampled := privacy.PoissonSampled{SamplingRate: 0.1, Event: g}
	for _, e := range []privacy.Event{sampled, privacy.DiscreteGaussian{NoiseMultiplier: 2}, privacy.Pure{Epsilon: 1},
		privacy.ZCDP{Rho: 1},
		privacy.Parallel{Events: []privacy.Event{g}}, privacy.Composed{Events: []privacy.Event{g, sampled}}} {
		if mu, err := SquaredMu([]privacy.Event{e}, privacy.AddRemove); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("mu^2 of %+v is %v, %v", e, mu, err)
		}
	}
	for _, e := range []privacy.Event{g, sampled, privacy.DiscreteGaussian{NoiseMultiplier: 2}, privacy.ZCDP{Rho: 1},
		privacy.Composed{Events: []privacy.Event{privacy.Pure{Epsilon: 1}, g}}} {
		if eps, _, err := SumOfParameters([]privacy.Event{e}, privacy.AddRemove); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("epsilon of %+v is %v, %v", e, eps, err)
		}
	}
	a := privacy.Approximate{Epsilon: 1, Delta: 1e-9}
	for _, e := range []privacy.Event{a, privacy.Repeated{Count: 2, Event: a}, privacy.PoissonSampled{SamplingRate: 0.1,
		Event: a}, privacy.Parallel{Events: []privacy.Event{a}}} {
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

// TestWhoRefusesWhat: the table of docs/privacy.md: who refuses what. The rest is answered.
func TestWhoRefusesWhat(t *testing.T) {
	gauss, lap, pure := privacy.Gaussian{NoiseMultiplier: 2}, privacy.Laplace{NoiseMultiplier: 2},
		privacy.Pure{Epsilon: 0.5}
	zcdp, approximate := privacy.ZCDP{Rho: 0.1}, privacy.Approximate{Epsilon: 0.5, Delta: 1e-9}
	discrete, two := privacy.DiscreteGaussian{NoiseMultiplier: 2}, privacy.Repeated{Count: 2, Event: gauss}
	poisson := func(e privacy.Event) privacy.Event { return privacy.PoissonSampled{SamplingRate: 0.1, Event: e} }
	fixed := func(e privacy.Event) privacy.Event {
		return privacy.SampledWithoutReplacement{SampleSize: 1, Population: 9, Event: e}
	}
	mixed := privacy.Composed{Events: []privacy.Event{gauss, lap}}
	const all, adding = "pld rdp moments zcdp advanced basic", "zcdp advanced basic"
	for _, c := range []struct {
		e               privacy.Event
		added, replaced string // the accountants that refuse
	}{
		{gauss, "", ""}, {lap, "", ""}, {pure, "", ""}, {zcdp, "", ""}, {approximate, "", ""}, {discrete, "", ""},
		{two, "", ""}, {mixed, "", ""},
		{poisson(gauss), "zcdp", adding},
		{poisson(lap), "", adding},
		{poisson(pure), "", adding},
		{poisson(zcdp), "zcdp", adding},
		{poisson(approximate), "", adding},
		{poisson(discrete), "zcdp", adding},
		{poisson(two), adding, adding},
		{poisson(mixed), "pld " + adding, "pld " + adding},
		{fixed(gauss), all, "zcdp"},
		{fixed(pure), all, ""},
		{fixed(two), all, adding},
		{fixed(poisson(gauss)), all, all},
		{privacy.Parallel{Events: []privacy.Event{gauss, privacy.Gaussian{NoiseMultiplier: 3}}}, "", ""},
		{privacy.Parallel{Events: []privacy.Event{gauss, lap}}, adding, adding},
	} {
		for name, acc := range everyAccountant(t) {
			for adj, refuse := range map[privacy.Adjacency]string{privacy.AddRemove: c.added, privacy.ReplaceOne: c.replaced} {
				_, err := acc.Epsilon([]privacy.Event{c.e}, adj, 1e-5)
				if want := strings.Contains(" "+refuse+" ", " "+name+" "); errors.Is(err, privacy.ErrUnsupported) != want ||
					err != nil && !want {
					t.Errorf("%s %s %#v: %v, want a refusal: %v", name, adj, c.e, err, want)
				}
			}
		}
	}
}
