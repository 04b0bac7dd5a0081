package account

import (
	"errors"
	"strings"
	"testing"

	"weir/privacy"
)

// The table of docs/privacy.md: who refuses what. The rest is answered.
func TestWhoRefusesWhat(t *testing.T) {
	gauss, lap, pure := privacy.Gaussian{NoiseMultiplier: 2}, privacy.Laplace{NoiseMultiplier: 2}, privacy.Pure{Epsilon: 0.5}
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
		{gauss, "", ""}, {lap, "", ""}, {pure, "", ""}, {zcdp, "", ""}, {approximate, "", ""}, {discrete, "", ""}, {two, "", ""}, {mixed, "", ""},
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
				if want := strings.Contains(" "+refuse+" ", " "+name+" "); errors.Is(err, privacy.ErrUnsupported) != want || err != nil && !want {
					t.Errorf("%s %s %#v: %v, want a refusal: %v", name, adj, c.e, err, want)
				}
			}
		}
	}
}
