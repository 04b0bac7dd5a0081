package account

import (
	"testing"

	"weir/privacy"
)

// TestEqualOrdersEndAtTheLeast: of orders with equal values the search takes the least, 1 + 1e-6, though it begins at
// larger ones.
func TestEqualOrdersEndAtTheLeast(t *testing.T) {
	v, o := leastReal(func(float64) float64 { return 2 }, nothingKnown)
	if v != 2 || o != 1+1e-6 {
		t.Errorf("%v at %v, must be 2 at %v", v, o, 1+1e-6)
	}
}

// TestFloorsChangeNoOptimum: leaving out orders whose floor is above the least value ends at the very value and order
// of a search that leaves none out, for epsilon and for delta, and asks for fewer divergences.
func TestFloorsChangeNoOptimum(t *testing.T) {
	all, questions := 0, 0
	for _, e := range []privacy.Event{
		privacy.Gaussian{NoiseMultiplier: 0.3}, privacy.Gaussian{NoiseMultiplier: 40}, privacy.Laplace{NoiseMultiplier: 2},
		privacy.DiscreteGaussian{NoiseMultiplier: 3}, privacy.Pure{Epsilon: 0.01}, privacy.RandomizedResponse{Epsilon: 5},
		privacy.PoissonSampled{SamplingRate: 0.01, Event: privacy.Gaussian{NoiseMultiplier: 0.7}},
		privacy.PoissonSampled{SamplingRate: 1e-7, Event: privacy.Gaussian{NoiseMultiplier: 0.01}},
		privacy.PoissonSampled{SamplingRate: 0.2, Event: privacy.Laplace{NoiseMultiplier: 1}},
		privacy.PoissonSampled{SamplingRate: 0.2, Event: privacy.Pure{Epsilon: 3}},
	} {
		for _, adjacency := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			for _, count := range []int64{1, 1000, 1 << 30} {
				releases, err := compile("rdp", []privacy.Event{privacy.Repeated{Count: count, Event: e}}, adjacency)
				if err != nil || !allConvex(releases) {
					continue
				}
				for _, f := range []func(a, rdp float64) float64{
					func(a, rdp float64) float64 { return Improved.epsilon(a, rdp, 1e-9) },
					func(a, rdp float64) float64 { return Classic.epsilon(a, rdp, 0.01) },
					func(a, rdp float64) float64 { return Improved.logDelta(a, rdp, 0.5) },
					func(a, rdp float64) float64 { return Improved.logDelta(a, rdp, 30) },
				} {
					value, order := leastReal(func(a float64) float64 { all++; return f(a, totalAt(releases, a)) }, nothingKnown)
					d := &divergences{at: func(a float64) float64 { questions++; return totalAt(releases, a) }}
					v, o := leastReal(func(a float64) float64 { return f(a, d.value(a)) },
						func(a float64) float64 { return f(a, d.floor(a)) })
					if v != value || o != order {
						t.Errorf("%d times %#v under %s: %v at %v, must be %v at %v", count, e, adjacency, v, o, value, order)
					}
				}
			}
		}
	}
	if all == 0 || 10*questions > 8*all {
		t.Errorf("%d of %d divergences were questions for, must be below 80 of 100", questions, all)
	}
}
