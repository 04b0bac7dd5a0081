package mechanism

import (
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"weir/internal/portable"
	"weir/privacy"
	"weir/privacy/noise"
)

// PermuteAndFlip selects like Exponential, never with a lower expected score
// (McKenna, Sheldon 2020). It is report-noisy-max with exponential noise (Ding
// et al. 2021).
//
// Input, sensitivity and adjacency as in Scores. Release: the first index, in random
// order, that passes a coin of exp(-rate * (best - score)). Guarantee:
// Epsilon-DP, exactly; its range is not known to be bounded by Epsilon, so the
// event is pure.
type PermuteAndFlip struct{ Scores }

func (m PermuteAndFlip) Event(a privacy.Adjacency) privacy.Event {
	return repeated(m.Selections, privacy.Pure{Epsilon: m.epsilon(a)})
}

func (m PermuteAndFlip) choose(st *noise.Stream, steps []int64, bits int) int {
	best, order := slices.Max(steps), make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	for n := len(order); ; n-- {
		k := int(st.Uint64n(uint64(n)))
		order[k], order[n-1] = order[n-1], order[k]
		i := order[n-1]
		if st.BernoulliExp(noise.Rational{Num: uint64(best - steps[i]), Den: 1 << bits}) {
			return i
		}
	}
}

// Probabilities returns the law of choose up to the rounding of scores. With
// coins p, index i wins with p[i] times the integral over t in [0, 1], the time
// of its turn, of the product over j of 1 - t p[j]: a polynomial, for which a
// Gauss rule of as many points as candidates is exact.
func (m PermuteAndFlip) Probabilities(scores []float64) []float64 {
	coins := m.gaps(scores)
	for i, g := range coins {
		coins[i] = portable.Exp(-g)
	}
	out := make([]float64, len(coins))
	for i := range out {
		out[i] = coins[i] * quad.Fixed(func(t float64) float64 {
			all := 1.0
			for j, p := range coins {
				if j != i {
					all *= 1 - float64(t*p)
				}
			}
			return all
		}, 0, 1, len(coins), nil, 0)
	}
	return out
}
