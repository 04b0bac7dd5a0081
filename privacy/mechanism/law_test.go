package mechanism

import (
	"fmt"
	"testing"

	"weir/internal/stattest"
	"weir/privacy/noise"
)

func source(i int) *noise.Source {
	return noise.NewSource(noise.Key{42}, fmt.Sprint("test ", i))
}

type selector interface {
	Select(*noise.Source, []float64) (int, error)
	Probabilities([]float64) []float64
}

// selectionP returns the p-value that m selects with the probabilities that
// claimed states.
func selectionP(t *testing.T, m, claimed selector, scores []float64) float64 {
	t.Helper()
	const n = 60000
	counts := make([]int, len(scores))
	for i := range n {
		k, err := m.Select(source(i), scores)
		if err != nil {
			t.Fatal(err)
		}
		counts[k]++
	}
	return stattest.ChiSquare(counts, claimed.Probabilities(scores), n)
}

// False-alarm rate 1e-6 for each; noise x 0.9 (epsilon / 0.9) is rejected.
func TestSelectionsFollowTheirLaws(t *testing.T) {
	scores := []float64{10, 9, 7, 7, 4.5, -20}
	for _, monotone := range []bool{false, true} {
		right, wrong := Scores{0.8, 1, monotone}, Scores{0.8 / 0.9, 1, monotone}
		for _, m := range [][2]selector{
			{Exponential{right}, Exponential{wrong}},
			{PermuteAndFlip{right}, PermuteAndFlip{wrong}},
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

// TestResponseLaw: false-alarm rate 1e-6; noise x 0.9 is rejected.
func TestResponseLaw(t *testing.T) {
	const n = 200000
	for _, m := range []RandomizedResponse{{2, 0.5}, {4, 0.2}, {10, 0.9}, ResponseFor(1, 3)} {
		buckets := make([]int, n)
		for i := range buckets {
			buckets[i] = 1
		}
		if err := m.Respond(source(0), buckets); err != nil {
			t.Fatal(err)
		}
		counts, p := make([]int, m.Buckets), make([]float64, m.Buckets)
		for _, b := range buckets {
			counts[b]++
		}
		for b := range p {
			p[b] = m.NoiseParameter / float64(m.Buckets)
		}
		p[1] = m.Truth()
		if pv := stattest.ChiSquare(counts, p, n); pv < stattest.FalseAlarm {
			t.Errorf("%+v: p-value %g", m, pv)
		}
		less := RandomizedResponse{m.Buckets, 0.9 * m.NoiseParameter}
		if pv := stattest.Binomial(counts[1], n, less.Truth()); pv >= stattest.FalseAlarm {
			t.Errorf("%+v: passes for 0.9 of its noise, p-value %g", m, pv)
		}
	}
}

// quantileLaw is the law of Quantile by its definition, point by point.
func quantileLaw(m Quantile, values []float64, points int) []float64 {
	out := make([]float64, points)
	for c := range out {
		rank := 0.0
		for _, x := range values {
			if x < m.Low+float64(c)*m.Step {
				rank++
			}
		}
		out[c] = -abs(rank - m.Q*float64(len(values)))
	}
	d := 1.0
	if m.Adjacency == "add_remove" {
		d = max(m.Q, 1-m.Q)
	}
	return Exponential{Scores{m.Epsilon, d, false}}.Probabilities(out)
}

func abs(x float64) float64 { return max(x, -x) }

// False-alarm rate 1e-6; noise x 0.9 is rejected.
func TestQuantileLaw(t *testing.T) {
	const n, points = 60000, 21
	values := []float64{-7, 0.2, 0.3, 0.3, 1.9, 4.4, 9.75, 12, 0.3}
	for _, m := range []Quantile{
		{Q: 0.5, Low: 0, High: 10, Step: 0.5, Epsilon: 1, Adjacency: "replace_one"},
		{Q: 0.25, Low: 0, High: 10, Step: 0.5, Epsilon: 0.7, Adjacency: "add_remove"},
		{Q: 1, Low: 0, High: 10, Step: 0.5, Epsilon: 2, Adjacency: "add_remove"},
	} {
		counts := make([]int, points)
		for i := range n {
			x, err := m.Release(source(i), values)
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
	m := Partitions{Epsilon: 2, Delta: 0.03, PerUnit: 3, Adjacency: "add_remove"}
	const n = 60000
	shown := 0
	for i := range n {
		out, err := m.Release(source(i), map[string]int64{"a": 1, "b": 1, "c": 1, "none": 0})
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 {
			shown++
		}
	}
	low, high := stattest.ClopperPearson(shown, n, stattest.FalseAlarm/2)
	if low > m.Delta || high < m.Delta/3 {
		t.Errorf("a lone unit shows %d times in %d: rate in [%g, %g], must be near and below %g", shown, n, low, high, m.Delta)
	}
	careless := Partitions{Epsilon: 2, Delta: 0.09, PerUnit: 3, Adjacency: "add_remove"}
	shown = 0
	for i := range n {
		out, err := careless.Release(source(i), map[string]int64{"a": 1, "b": 1, "c": 1})
		if err != nil {
			t.Fatal(err)
		}
		shown += min(1, len(out))
	}
	if low, _ := stattest.ClopperPearson(shown, n, stattest.FalseAlarm/2); low <= m.Delta {
		t.Errorf("delta not shared among categories: rate at least %g, must be seen to pass %g", low, m.Delta)
	}
}
