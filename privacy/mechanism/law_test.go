package mechanism

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"weir/internal/bitmath"
	"weir/internal/stattest"
	"weir/privacy"
	"weir/privacy/noise"
)

func source(i int) *noise.Source {
	return noise.NewSource(noise.Key{42}, fmt.Sprint("test ", i))
}

// open opens a mechanism as a payer would.
func open(m privacy.Mechanism, i int) *privacy.Handle {
	return privacy.Open(privacy.Opening{Spend: "test", Mechanism: m, Source: source(i)})
}

// scoresOf returns scores for as many selections as a test likes.
func scoresOf(epsilon, sensitivity float64, monotone bool, candidates int) Scores {
	return Scores{epsilon, privacy.AddRemove, Moves{sensitivity, sensitivity}, monotone, candidates, 1 << 20}
}

type lawful interface {
	privacy.Mechanism
	Probabilities([]float64) []float64
}

// selectionP returns the p-value that m selects with the probabilities that
// claimed states.
func selectionP(t *testing.T, m, claimed lawful, scores []float64) float64 {
	t.Helper()
	const n = 60000
	counts, h := make([]int, len(scores)), open(m, 0)
	for range n {
		k, err := Select(h, scores)
		if err != nil {
			t.Fatal(err)
		}
		counts[k]++
	}
	return stattest.ChiSquare(counts, claimed.Probabilities(scores), n)
}

// TestSelectionsFollowTheirLaws: false-alarm rate 1e-6 for each; noise x 0.9 (epsilon / 0.9) is rejected.
func TestSelectionsFollowTheirLaws(t *testing.T) {
	scores := []float64{10, 9, 7, 7, 4.5, -20}
	for _, monotone := range []bool{false, true} {
		right, wrong := scoresOf(0.8, 1, monotone, 6), scoresOf(0.8/0.9, 1, monotone, 6)
		for _, m := range [][2]lawful{
			{Exponential{right}, Exponential{wrong}},
			{NoisyMax{right}, NoisyMax{wrong}},
		} {
			if p := selectionP(t, m[0], m[0], scores); p < stattest.FalseAlarm {
				t.Errorf("%T %+v: p-value %g", m[0], m[0], p)
			}
			if p := selectionP(t, m[1], m[0], scores); p >= stattest.FalseAlarm {
				t.Errorf("%T: noise x 0.9 has p-value %g, must be rejected", m[1], p)
			}
		}
	}
}

// quantileLaw returns the law of Quantile by its definition, point by point.
func quantileLaw(m Quantile, values []float64, points int) []float64 {
	out := make([]float64, points)
	for c := range out {
		lower, high, low := 0.0, 0.0, m.Low+float64(c)*m.Step
		for _, x := range values {
			x = min(max(x, m.Low), m.High)
			if x < low {
				lower++
			}
			if x < low+m.Step {
				high++
			}
		}
		target := m.Q * float64(len(values))
		out[c] = -max(0, lower-target, target-high)
	}
	d := 1.0
	if m.Adjacency == "add_remove" {
		d = max(m.Q, 1-m.Q)
	}
	return Exponential{scoresOf(m.Epsilon, d, false, points)}.Probabilities(out)
}

// TestQuantileOfTies: where 92 of 100 numbers are 0, so is the median, however many ranks
// away the next number is: another point is off by 12,600 ranks, which at epsilon 1 is a
// probability below exp(-6000).
func TestQuantileOfTies(t *testing.T) {
	values := make([]float64, 30000)
	for i := range 2400 {
		values[i] = float64(100 + i)
	}
	h := open(Quantile{Q: 0.5, Low: 0, High: 99999, Step: 1, Epsilon: 1, Adjacency: "replace_one", Releases: 50}, 0)
	for range 50 {
		if x, err := ReleaseQuantile(h, values); err != nil || x != 0 {
			t.Fatalf("the median is %g (%v), must be 0", x, err)
		}
	}
}

// TestQuantileLaw: false-alarm rate 1e-6; noise x 0.9 is rejected.
func TestQuantileLaw(t *testing.T) {
	const n, points = 60000, 21
	values := []float64{-7, 0.2, 0.3, 0.3, 1.9, 4.4, 9.75, 12, 0.3}
	for _, m := range []Quantile{
		{Q: 0.5, Low: 0, High: 10, Step: 0.5, Epsilon: 1, Adjacency: "replace_one", Releases: n},
		{Q: 0.25, Low: 0, High: 10, Step: 0.5, Epsilon: 0.7, Adjacency: "add_remove", Releases: n},
		{Q: 1, Low: 0, High: 10, Step: 0.5, Epsilon: 2, Adjacency: "add_remove", Releases: n},
	} {
		counts, h := make([]int, points), open(m, 0)
		for range n {
			x, err := ReleaseQuantile(h, values)
			if err != nil {
				t.Fatal(err)
			}
			counts[int(x/m.Step)]++
		}
		if p := stattest.ChiSquare(counts, quantileLaw(m, values, points), n); p < stattest.FalseAlarm {
			t.Errorf("%+v: p-value %g", m, p)
		}
		wrong := m
		wrong.Epsilon /= 0.9
		if p := stattest.ChiSquare(counts, quantileLaw(wrong, values, points), n); p >= stattest.FalseAlarm {
			t.Errorf("%+v: passes for noise x 0.9, p-value %g", m, p)
		}
	}
}

// TestSingletonsRarelyPass checks the delta of partition selection: a unit alone
// in its categories shows in any of them with probability at most Delta, by the
// exact tail; false-alarm rate 1e-6. Without division by PerUnit it would show
// PerUnit times as often, which is rejected.
func TestSingletonsRarelyPass(t *testing.T) {
	m := Partitions{Epsilon: 2, Delta: 0.03, PerUnit: 3, Adjacency: "add_remove", Releases: 60000}
	const n = 60000
	h, shown := open(m, 0), 0
	for range n {
		out, err := ReleasePartitions(h, map[string]int64{"a": 1, "b": 1, "c": 1, "none": 0})
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 {
			shown++
		}
	}
	low, high := stattest.ClopperPearson(shown, n, stattest.FalseAlarm/2)
	if low > m.Delta || high < m.Delta/3 {
		t.Errorf("a lone unit shows %d times in %d: rate in [%g, %g], must be near and below %g", shown, n, low, high,
			m.Delta)
	}
	careless := Partitions{Epsilon: 2, Delta: 0.09, PerUnit: 3, Adjacency: "add_remove", Releases: n}
	h, shown = open(careless, 0), 0
	for range n {
		out, err := ReleasePartitions(h, map[string]int64{"a": 1, "b": 1, "c": 1})
		if err != nil {
			t.Fatal(err)
		}
		shown += min(1, len(out))
	}
	if low, _ := stattest.ClopperPearson(shown, n, stattest.FalseAlarm/2); low <= m.Delta {
		t.Errorf("delta not shared among categories: rate at least %g, must be seen to pass %g", low, m.Delta)
	}
}

// NoisyMax is report-noisy-max with Laplace noise (Dwork, Roth 2014, section
// 3.3), for comparison with published pipelines; Exponential chooses
// better at the same price.
//
// Input, sensitivity and adjacency as in Scores. Release: the index of the largest score
// after noise of scale 2 Sensitivity/Epsilon (half if monotone), the first
// among equals. Guarantee: Epsilon-DP. For fixed noise of the others, index i
// wins if its own noise is at least some integer r. For a neighbour r grows by
// at most twice the largest move of a score (once if all move one way), which
// is Epsilon in the scale of the noise, and Pr(X >= r + k) >= exp(-k/b) Pr(X >=
// r) holds for discrete Laplace noise of scale b at every integer r. Scores and
// noise are integers on the grid of Scores, so this is exact.
type NoisyMax struct{ Scores }

func (m NoisyMax) Event(a privacy.Adjacency) privacy.Event {
	return repeated(m.Selections, privacy.Pure{Epsilon: m.epsilon(a)})
}

// choose adds noise of scale 1 in exponents, 2^bits in steps.
func (m NoisyMax) choose(st *noise.Stream, steps []int64, bits int) int {
	law, err := noise.NewDiscreteLaplace(noise.Rational{Num: 1 << bits, Den: 1})
	if err != nil {
		panic(err) // bits is at most 39 (Scores.Check), and 2^40 is served
	}
	noisy := slices.Clone(steps)
	for i := range noisy {
		noisy[i] += law.Draw(st)
	}
	return slices.Index(noisy, slices.Max(noisy))
}

// Probabilities returns the law of choose up to the rounding of scores, by
// quadrature between the kinks of the densities, to about 1e-10.
func (m NoisyMax) Probabilities(scores []float64) []float64 {
	gaps := m.gaps(scores)
	kinks := make([]float64, len(gaps))
	for i, g := range gaps {
		kinks[i] = -g
	}
	slices.Sort(kinks)
	kinks = append([]float64{-45 - slices.Max(gaps)}, append(kinks, 45)...)
	out := make([]float64, len(gaps))
	for i := range out {
		density := func(x float64) float64 {
			p := bitmath.Exp(-math.Abs(x+gaps[i])) / 2
			for j, g := range gaps {
				if j != i {
					p *= laplaceCDF(x + g)
				}
			}
			return p
		}
		for k := range kinks[1:] {
			out[i] += integrate(density, kinks[k], kinks[k+1])
		}
	}
	return out
}

// integrate adds up Gauss rules on panels no longer than 2.
func integrate(f func(float64) float64, a, b float64) (sum float64) {
	panels := int(math.Ceil((b - a) / 2))
	for p := range panels {
		lo := a + (b-a)*float64(p)/float64(panels)
		sum += quad.Fixed(f, lo, a+(b-a)*float64(p+1)/float64(panels), 16, nil, 0)
	}
	return sum
}

func laplaceCDF(x float64) float64 {
	if x < 0 {
		return bitmath.Exp(x) / 2
	}
	return 1 - float64(bitmath.Exp(-x)/2)
}
