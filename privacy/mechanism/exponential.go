package mechanism

import (
	"slices"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/noise"
)

// Exponential is the exponential mechanism (McSherry, Talwar 2007).
//
// Input, sensitivity and adjacency as in Scores. Release: one index, i with probability proportional
// to exp(rate * score[i]). Guarantee: Epsilon-DP with range bounded by Epsilon
// (Dong, Durfee, Rogers 2020), exactly for the law drawn here: scores lie on a
// grid and indexes are accepted with probability exp of a rational, by
// integers, so that no rounding of a weight leaks (Ilvento 2020 on why that
// matters; here base e is exact, so base 2 is not needed).
type Exponential struct{ Scores }

// Check serves smaller epsilons than other selections: no noise is drawn on the grid.
func (m Exponential) Check() error { return m.check(0x1p-24) }

func (m Exponential) Event(a privacy.Adjacency) privacy.Event {
	return repeated(m.Selections, privacy.Exponential{Epsilon: m.epsilon(a)})
}

// choose takes at most as many trials, on average, as there are candidates.
func (m Exponential) choose(st *noise.Stream, steps []int64, bits int) int {
	best := slices.Max(steps)
	for {
		i := int(st.Uint64n(uint64(len(steps))))
		if st.BernoulliExp(noise.Rational{Num: uint64(best - steps[i]), Den: 1 << bits}) {
			return i
		}
	}
}

// Probabilities returns the law of choose up to the rounding of scores, a factor
// of 2^-27 in Epsilon.
func (m Exponential) Probabilities(scores []float64) []float64 {
	out, sum := m.gaps(scores), 0.0
	for i, g := range out {
		out[i] = bitmath.Exp(-g)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
