package mechanism

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/noise"
)

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
