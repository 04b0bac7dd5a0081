package mechanism

import (
	"math"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/noise"
)

// attack is a distinguishing attack on one mechanism: says runs it on one of two
// neighbours, with its noise divided by shrink, and reports the event that is
// more likely on the first.
type attack struct {
	name           string
	epsilon, delta float64 // the claim
	says           func(src *noise.Source, first bool, shrink float64) (bool, error)
}

// bound runs the attack n times on each neighbour.
func (a attack) bound(t *testing.T, shrink float64) float64 {
	t.Helper()
	n := stattest.Rounds(8000, 40000)
	var hits [2]int
	for i := range n {
		for side, first := range []bool{true, false} {
			yes, err := a.says(source(2*i+side), first, shrink)
			if err != nil {
				t.Fatalf("%s: %v", a.name, err)
			}
			if yes {
				hits[side]++
			}
		}
	}
	return stattest.EpsilonLowerBound(hits[0], hits[1], n, a.delta)
}

// opposed returns scores where one candidate of ten is ahead by one on the first
// neighbour and behind by one on the second: nearly the worst case.
func opposed(first bool) []float64 {
	scores := make([]float64, 10)
	for i := range scores {
		scores[i] = 1
	}
	scores[7] = 0
	if first {
		for i := range scores {
			scores[i] = 1 - scores[i]
		}
	}
	return scores
}

func selection(name string, make func(Scores) privacy.Mechanism) attack {
	return attack{name, 1, 0, func(src *noise.Source, first bool, shrink float64) (bool, error) {
		i, err := Select(paid(make(scoresOf(shrink, 1, false, 10)), src), opposed(first))
		return i == 7, err
	}}
}

// one returns 1 on the first neighbour, 0 on the second.
func one(first bool) int64 {
	if first {
		return 1
	}
	return 0
}

func attacks() []attack {
	return []attack{
		selection("exponential", func(s Scores) privacy.Mechanism { return Exponential{s} }),
		selection("noisy max", func(s Scores) privacy.Mechanism { return NoisyMax{s} }),
		{"laplace counts", 1, 0, func(src *noise.Source, first bool, shrink float64) (bool, error) {
			c, err := ReleaseCounts(paid(LaplaceCounts{1 / shrink, 1}, src), []int64{one(first)})
			return err == nil && c[0] >= 1, err
		}},
		{"gaussian histogram", continuousEpsilon(2, 0.02), 0.02, func(src *noise.Source, first bool, shrink float64) (bool,
			error) {
			c, err := ReleaseCounts(paid(GaussianHistogram{2 / shrink, 1}, src), []int64{one(first)})
			return err == nil && c[0] >= 3, err
		}},
		{"gaussian filter", continuousEpsilon(2, 0.02), 0.02, func(src *noise.Source, first bool, shrink float64) (bool,
			error) {
			// two rounds of half of the total, added up
			h := paid(GaussianFilter{NoiseMultiplier: 2 / shrink, Adjacency: "add_remove"}, src)
			a, err := ReleaseIntegers(h, []int64{one(first)}, HistogramMoves(), 2*math.Sqrt2/shrink)
			if err != nil {
				return false, err
			}
			b, err := ReleaseIntegers(h, []int64{one(first)}, Moves{1, 2}, 2*math.Sqrt2/shrink)
			return err == nil && a[0]+b[0] >= 5, err
		}},
		{"zcdp filter", zcdpEpsilon(1.0/8, 0.02), 0.02, func(src *noise.Source, first bool, shrink float64) (bool, error) {
			// a choice for a quarter of the total, a histogram for the rest
			h := paid(ZCDPFilter{2 / shrink, "add_remove", 0}, src)
			i, err := Choose(h, []float64{float64(one(first)), float64(one(!first))}, Moves{1, 2},
				h.Mechanism().(ZCDPFilter).Epsilon(h.Left()/4))
			if err != nil {
				return false, err
			}
			c, err := ReleaseIntegers(h, []int64{one(first)}, HistogramMoves(),
				h.Mechanism().(ZCDPFilter).Noise(HistogramMoves(), h.Left()))
			return err == nil && c[0] >= 2+2*int64(i), err
		}},
		{"partitions", 1, 1e-6, partitionAttack},
		{"quantile", 1, 0, func(src *noise.Source, first bool, shrink float64) (bool, error) {
			m := Quantile{Q: 0.5, Low: 0, High: 9, Step: 1, Epsilon: shrink, Adjacency: "replace_one", Releases: 1}
			x, err := ReleaseQuantile(paid(m, src), []float64{8.5, map[bool]float64{true: 99, false: -99}[first]})
			return x == 9, err
		}},
		{"bounds", 1, 0, func(src *noise.Source, first bool, shrink float64) (bool, error) {
			m := Bounds{NoiseMultiplier: 1 / shrink, LowExponent: 0, HighExponent: 3, Failure: 0.001, Releases: 1}
			_, high, err := ReleaseBounds(paid(m, src), m.Count(nil, make([]float64, m.Threshold()-1+one(first))))
			return err == nil && high == 1, nil
		}},
	}
}

// partitionAttack has a category at the threshold, or one unit below it.
func partitionAttack(src *noise.Source, first bool, shrink float64) (bool, error) {
	m := Partitions{Epsilon: shrink, Delta: 1e-6, PerUnit: 1, Adjacency: "add_remove", Releases: 1}
	threshold, err := m.Threshold()
	if err != nil {
		return false, err
	}
	out, err := ReleasePartitions(paid(m, src), map[string]int64{"a": threshold - 1 + one(first)})
	return len(out) > 0, err
}

func paid(m privacy.Mechanism, src *noise.Source) *privacy.Handle {
	return privacy.Open(privacy.Opening{Spend: "attack", Mechanism: m, Source: src})
}

// continuousEpsilon returns the epsilon of the Gaussian mechanism of sensitivity 1 at
// delta (Balle, Wang 2018, theorem 8), by bisection.
func continuousEpsilon(sigma, delta float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return root(delta, func(e float64) float64 {
		return phi(0.5/sigma-e*sigma) - math.Exp(e)*phi(-0.5/sigma-e*sigma)
	})
}

// zcdpEpsilon returns the epsilon that rho-zCDP implies at delta (Bun, Steinke 2016,
// proposition 3), which is what a Gaussian release could use up but for the conversion.
func zcdpEpsilon(rho, delta float64) float64 {
	return account.Improved.ZCDPEpsilon(rho, delta)
}

// root finds where a falling function reaches delta.
func root(delta float64, excess func(float64) float64) float64 {
	low, high := 0.0, 20.0
	for range 60 {
		if mid := (low + high) / 2; excess(mid) > delta {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// TestAttacks: no attack proves more than the claim (it would err with rate 1e-6
// if the claim were just met), none is idle, and with half the noise each proves
// that the claim is broken.
func TestAttacks(t *testing.T) {
	for _, a := range attacks() {
		honest, halved := a.bound(t, 1), a.bound(t, 2)
		t.Logf("%-20s claim %.3f, attack %.3f, with half the noise %.3f", a.name, a.epsilon, honest, halved)
		if honest > a.epsilon {
			t.Errorf("%s: the attack proves epsilon >= %g, above the claim %g", a.name, honest, a.epsilon)
		}
		if honest < a.epsilon/4 {
			t.Errorf("%s: the attack proves only %g of %g: it is idle", a.name, honest, a.epsilon)
		}
		if halved <= a.epsilon {
			t.Errorf("%s: with half the noise the attack proves only %g, must exceed the claim %g", a.name, halved, a.epsilon)
		}
	}
}
