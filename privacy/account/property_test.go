package account

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
	"weir/privacy/pld"
)

func everyAccountant(t *testing.T) map[string]privacy.Accountant {
	t.Helper()
	all := map[string]privacy.Accountant{}
	for _, name := range Names() {
		acc, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = acc
	}
	return all
}

func adjacencies() []privacy.Adjacency {
	return []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne}
}

// logUniform returns e to a uniform number between ln low and ln high.
func logUniform(r *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, r.Float64())
}

// randomEvent returns one event of any kind, nested at most once.
func randomEvent(r *rand.Rand) privacy.Event {
	n := 1 + r.Int64N(20)
	s, q := logUniform(r, 0.5, 20), logUniform(r, 1e-3, 0.5)
	simple := []privacy.Event{privacy.Gaussian{NoiseMultiplier: s}, privacy.Laplace{NoiseMultiplier: s},
		privacy.DiscreteLaplace{NoiseMultiplier: s},
		privacy.DiscreteGaussian{NoiseMultiplier: s}, privacy.Exponential{Epsilon: 1 / s},
		privacy.RandomizedResponse{Epsilon: 1 / s},
		privacy.Pure{Epsilon: 1 / s}, privacy.ZCDP{Rho: 1 / (2 * s * s)}, privacy.Approximate{Epsilon: 1 / s, Delta: 1e-9}}
	one := simple[r.IntN(len(simple))]
	switch r.IntN(6) {
	case 0:
		return privacy.Repeated{Count: 50 * n, Event: privacy.PoissonSampled{SamplingRate: q,
			Event: privacy.Gaussian{NoiseMultiplier: s}}}
	case 1:
		return privacy.Repeated{Count: n, Event: privacy.PoissonSampled{SamplingRate: q, Event: one}}
	case 2:
		return privacy.Repeated{Count: n, Event: privacy.SampledWithoutReplacement{SampleSize: int64(1000 * q),
			Population: 1000, Event: privacy.Gaussian{NoiseMultiplier: s}}}
	case 3:
		return privacy.Parallel{Events: []privacy.Event{one, simple[r.IntN(len(simple))]}}
	}
	return privacy.Repeated{Count: n, Event: one}
}

// TestPLDIsNotAboveRDP: where both accountants know an event, pld is never above rdp nor below its own
// optimistic bound. 1e-4 is twice what the fineness of its grids may add.
func TestPLDIsNotAboveRDP(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	compared := 0
	for range stattest.Rounds(40, 80) {
		events := []privacy.Event{randomEvent(r)}
		if r.IntN(2) == 0 {
			events = append(events, randomEvent(r))
		}
		delta := logUniform(r, 1e-10, 1e-2)
		for _, adj := range adjacencies() {
			tight, err := pld.New().Epsilon(events, adj, delta)
			loose, err2 := RDP{}.Epsilon(events, adj, delta)
			if err != nil || err2 != nil {
				if !errors.Is(errors.Join(err, err2), privacy.ErrUnsupported) {
					t.Fatalf("%#v: %v, %v", events, err, err2)
				}
				continue
			}
			low, err := pld.New().Optimistic(events, adj, delta)
			if err != nil || !(low <= tight) || !(tight <= loose*(1+1e-4)+1e-9) {
				t.Errorf("%#v %s delta %g: optimistic %v, pld %v, rdp %v (%v)", events, adj, delta, low, tight, loose, err)
			}
			compared++
		}
	}
	if compared < stattest.Rounds(50, 100) {
		t.Errorf("only %d comparisons were made", compared)
	}
}

// variations returns an event and three that are worse: steps, rate, noise.
func variations() map[string][4]privacy.Event {
	laplace := func(n int64, s float64) privacy.Event {
		return privacy.Repeated{Count: n, Event: privacy.Laplace{NoiseMultiplier: s}}
	}
	sampled := func(q, s float64, n int64) privacy.Event { return sgd(q, s, n)[0] }
	fixed := func(m, n int64, s float64) privacy.Event {
		return privacy.Repeated{Count: n, Event: privacy.SampledWithoutReplacement{SampleSize: m, Population: 1000,
			Event: privacy.Gaussian{NoiseMultiplier: s}}}
	}
	return map[string][4]privacy.Event{
		"laplace": {laplace(20, 9), laplace(21, 9), laplace(20, 8.9), laplace(21, 8.9)},
		"poisson": {sampled(0.01, 1.5, 400), sampled(0.01, 1.5, 410), sampled(0.0102, 1.5, 400), sampled(0.01, 1.48, 400)},
		"fixed":   {fixed(10, 50, 3), fixed(10, 51, 3), fixed(11, 50, 3), fixed(10, 50, 2.95)},
	}
}

func TestMonotone(t *testing.T) {
	seen := 0
	for name, acc := range everyAccountant(t) {
		for kind, v := range variations() {
			for _, adj := range adjacencies() {
				base, err := acc.Epsilon(v[:1], adj, 1e-5)
				if errors.Is(err, privacy.ErrUnsupported) {
					continue
				}
				seen++
				for i := range 3 {
					if worse := mustEpsilon(t, acc, v[i+1:i+2], adj, 1e-5); !(worse > base) {
						t.Errorf("%s %s %s: variation %d has %v, the base %v", name, kind, adj, i, worse, base)
					}
				}
				if at := mustEpsilon(t, acc, v[:1], adj, 1e-6); !(at >= base) {
					t.Errorf("%s %s %s: %v at delta 1e-6, %v at 1e-5", name, kind, adj, at, base)
				}
			}
		}
	}
	if seen < 25 {
		t.Errorf("only %d of the accountants, events and adjacencies were tried", seen)
	}
}

// TestPartsAreTheWhole: the order and the nesting of a composition do not matter.
func TestPartsAreTheWhole(t *testing.T) {
	a, b := privacy.Event(privacy.Laplace{NoiseMultiplier: 7}), privacy.Event(privacy.Gaussian{NoiseMultiplier: 6})
	whole := []privacy.Event{privacy.Repeated{Count: 12, Event: a}, privacy.Repeated{Count: 6, Event: b}}
	parts := []privacy.Event{b, privacy.Composed{Events: []privacy.Event{
		privacy.Repeated{Count: 3, Event: privacy.Composed{Events: []privacy.Event{a, privacy.Repeated{Count: 3, Event: a}}}},
		b}},
		privacy.Repeated{Count: 4, Event: b}}
	for name, acc := range everyAccountant(t) {
		for _, adj := range adjacencies() {
			x, y := mustEpsilon(t, acc, whole, adj, 1e-6), mustEpsilon(t, acc, parts, adj, 1e-6)
			if math.Abs(x-y) > 1e-9*x {
				t.Errorf("%s %s: whole %v, parts %v", name, adj, x, y)
			}
			one, other := mustEpsilon(t, acc, whole[:1], adj, 1e-6), mustEpsilon(t, acc, whole[1:], adj, 1e-6)
			if !(x >= math.Max(one, other)) {
				t.Errorf("%s %s: the whole has %v, its parts %v and %v", name, adj, x, one, other)
			}
		}
	}
}

// TestDeltaAndEpsilonInvert: epsilon at the delta that Delta gives for an epsilon is that epsilon or less.
func TestDeltaAndEpsilonInvert(t *testing.T) {
	for name, acc := range everyAccountant(t) {
		for kind, v := range variations() {
			for _, adj := range adjacencies() {
				eps, err := acc.Epsilon(v[:1], adj, 1e-5)
				if errors.Is(err, privacy.ErrUnsupported) {
					continue
				}
				delta, err := acc.Delta(v[:1], adj, eps)
				pure := delta == 0 && kind == "laplace" // a sum of pure epsilons needs no delta
				if err != nil || !(delta <= 1e-5*(1+2e-3)) || !pure && !(delta >= 1e-5*(1-2e-3)) {
					t.Errorf("%s %s %s: epsilon %v has delta %v, want 1e-5 (%v)", name, kind, adj, eps, delta, err)
				}
			}
		}
	}
}

// TestSharedCoinIsNotAmplifiedApart: several releases on one sample share its coin: no accountant may amplify them one
// by one. Ten Gaussians of 3 are one of 3/sqrt(10); the sample of that is the truth.
func TestSharedCoinIsNotAmplifiedApart(t *testing.T) {
	ten := privacy.Repeated{Count: 10, Event: privacy.Gaussian{NoiseMultiplier: 3}}
	inner := []privacy.Event{ten, privacy.Composed{Events: []privacy.Event{ten}},
		privacy.Parallel{Events: []privacy.Event{ten}}}
	truth := mustEpsilon(t, pld.New(), sgd(0.1, 3/math.Sqrt(10), 5), privacy.AddRemove, 1e-6)
	for name, acc := range everyAccountant(t) {
		for i, e := range inner {
			events := []privacy.Event{privacy.Repeated{Count: 5, Event: privacy.PoissonSampled{SamplingRate: 0.1, Event: e}}}
			eps, err := acc.Epsilon(events, privacy.AddRemove, 1e-6)
			if err == nil && eps < truth*(1-1e-4) || err != nil && !errors.Is(err, privacy.ErrUnsupported) {
				t.Errorf("%s, form %d: %v (%v), the truth is %v", name, i, eps, err, truth)
			}
		}
	}
}

// TestExchangeFactor: the factor of an exchange is applied once: to noise, not to what is an epsilon or
// a rho for the stated adjacency already, nor inside a sample of fixed size.
func TestExchangeFactor(t *testing.T) {
	cases := []struct{ exchanged, removed privacy.Event }{
		{privacy.Gaussian{NoiseMultiplier: 4}, privacy.Gaussian{NoiseMultiplier: 2}},
		{privacy.Laplace{NoiseMultiplier: 8}, privacy.Laplace{NoiseMultiplier: 4}},
		{privacy.Pure{Epsilon: 0.5}, privacy.Pure{Epsilon: 0.5}},
		{privacy.Exponential{Epsilon: 0.5}, privacy.Exponential{Epsilon: 0.5}},
		{privacy.RandomizedResponse{Epsilon: 0.5}, privacy.RandomizedResponse{Epsilon: 0.5}},
		{privacy.ZCDP{Rho: 0.1}, privacy.ZCDP{Rho: 0.1}},
		{privacy.SampledWithoutReplacement{SampleSize: 9, Population: 9, Event: privacy.Gaussian{NoiseMultiplier: 2}},
			privacy.Gaussian{NoiseMultiplier: 2}},
	}
	for name, acc := range everyAccountant(t) {
		for _, c := range cases {
			x := mustEpsilon(t, acc, []privacy.Event{c.exchanged}, privacy.ReplaceOne, 1e-6)
			y := mustEpsilon(t, acc, []privacy.Event{c.removed}, privacy.AddRemove, 1e-6)
			if math.Abs(x-y) > 1e-4*y { // the fineness of pld's grids
				t.Errorf("%s: %#v under replace_one has %v, %#v under add_remove %v", name, c.exchanged, x, c.removed, y)
			}
		}
	}
}

// BenchmarkRDP: 225,000 steps of a batch of 128 of 32,561 rows, the size of issue 3.
func BenchmarkRDP(b *testing.B) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		b.Run(string(adj), func(b *testing.B) {
			for range b.N {
				if _, err := (RDP{}).Epsilon(sgd(128.0/32561, 1.1, 225000), adj, 1e-5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
