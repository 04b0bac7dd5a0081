package mechanism

import (
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/noise"
)

// LaplaceCounts adds discrete Laplace noise to counts.
//
// Input: integers of which one unit's presence changes one by 1 (L1 bound 1 on a
// contribution). Release: all counts with noise of scale NoiseMultiplier.
// Guarantee: 1/NoiseMultiplier-DP under add_remove, twice that under
// replace_one, where a unit leaves one count and joins another; the accountant
// applies the factor. Reference: Ghosh, Roughgarden, Sundararajan 2009.
type LaplaceCounts struct{ NoiseMultiplier float64 }

// Event describes one Release.
func (m LaplaceCounts) Event() privacy.Event {
	return privacy.DiscreteLaplace{NoiseMultiplier: m.NoiseMultiplier}
}

// law returns the noise; its scale is NoiseMultiplier rounded up.
func (m LaplaceCounts) law() (noise.DiscreteLaplace, error) {
	scale, err := noise.RationalAbove(m.NoiseMultiplier)
	if err != nil {
		return noise.DiscreteLaplace{}, fmt.Errorf("noise multiplier: %w", err)
	}
	return noise.NewDiscreteLaplace(scale)
}

// Release adds noise to the counts in place.
func (m LaplaceCounts) Release(src *noise.Source, counts []int64) error {
	law, err := m.law()
	if err != nil {
		return err
	}
	addNoise(src.Stream("laplace counts", 0), counts, law.Draw)
	return nil
}

// GaussianCounts adds discrete Gaussian noise to counts.
//
// Input: integers of which one unit's presence changes one by 1 (L2 bound 1 on a
// contribution). Release: all counts with noise of parameter NoiseMultiplier.
// Guarantee: 1/(2 NoiseMultiplier^2)-zCDP under add_remove; the accountant
// applies the factor of replace_one. Reference: Canonne, Kamath, Steinke 2020.
type GaussianCounts struct{ NoiseMultiplier float64 }

// Event describes one Release.
func (m GaussianCounts) Event() privacy.Event {
	return privacy.DiscreteGaussian{NoiseMultiplier: m.NoiseMultiplier}
}

// law returns the noise; its variance is NoiseMultiplier squared, rounded up.
func (m GaussianCounts) law() (noise.DiscreteGaussian, error) {
	if !(m.NoiseMultiplier > 0) {
		return noise.DiscreteGaussian{}, fmt.Errorf("noise multiplier: is %g, must be positive", m.NoiseMultiplier)
	}
	square := m.NoiseMultiplier * m.NoiseMultiplier
	if math.FMA(m.NoiseMultiplier, m.NoiseMultiplier, -square) > 0 {
		square = math.Nextafter(square, math.Inf(1))
	}
	variance, err := noise.RationalAbove(square)
	if err != nil {
		return noise.DiscreteGaussian{}, fmt.Errorf("noise multiplier, squared: %w", err)
	}
	return noise.NewDiscreteGaussian(variance)
}

// Release adds noise to the counts in place.
func (m GaussianCounts) Release(src *noise.Source, counts []int64) error {
	law, err := m.law()
	if err != nil {
		return err
	}
	addNoise(src.Stream("gaussian counts", 0), counts, law.Draw)
	return nil
}

// Probability returns the probability that the noise on a count is x.
func (m GaussianCounts) Probability(x int64) (float64, error) {
	law, err := m.law()
	return law.PMF(x), err
}

// addNoise clamps counts to +-2^61 first, so that no sum overflows; the clamp
// moves no two counts apart.
func addNoise(st *noise.Stream, counts []int64, draw func(*noise.Stream) int64) {
	for i, c := range counts {
		counts[i] = min(max(c, -1<<61), 1<<61) + min(max(draw(st), -1<<61), 1<<61)
	}
}
