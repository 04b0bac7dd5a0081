package mechanism

import (
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/noise"
)

// GaussianHistogram adds integer Gaussian noise, round(N(0, NoiseMultiplier^2)), to
// one histogram.
//
// Input: counts of units in disjoint cells, so one unit is in one cell. Release: all
// counts with noise. Sensitivity: L2 1 under add_remove, sqrt(2) under replace_one,
// where a unit leaves one cell and joins another. Guarantee: that of the Gaussian
// mechanism (GDP; Dong, Roth, Su 2022), for x + round(N) = round(x + N) is
// post-processing of it. Accountants take 2 for the sensitivity under replace_one,
// so the event there has the multiplier that gives sqrt(2)/NoiseMultiplier: more by
// sqrt(2). The law's error, a factor exp(+-2^-44) in each of at most two cells that
// move, is 2^-42 of epsilon, below what any number shows.
type GaussianHistogram struct {
	NoiseMultiplier float64
	Releases        int64
}

func (m GaussianHistogram) Check() error {
	if err := checkSigma("noise multiplier", m.NoiseMultiplier); err != nil {
		return err
	}
	return checkUses("releases", m.Releases)
}

// checkSigma is for integer Gaussian noise.
func checkSigma(what string, sigma float64) error {
	if !(sigma >= 0x1p-10 && sigma <= 0x1p40) {
		return fmt.Errorf("%s: is %g, must be between 2^-10 and 2^40", what, sigma)
	}
	return nil
}

func (m GaussianHistogram) Event(a privacy.Adjacency) privacy.Event {
	e := privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier}
	if a == privacy.ReplaceOne {
		e.NoiseMultiplier *= math.Sqrt2 * (1 - 0x1p-50) // not rounded up
	}
	return repeated(m.Releases, e)
}

func (m GaussianHistogram) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L2, Bound: HistogramMoves().Under(a)}
}

// Deviation is that of a rounded normal number: rounding adds 1/12 to the variance,
// to 1e-8 of it for multipliers of 1 and more.
func (m GaussianHistogram) Deviation() float64 {
	return math.Sqrt(float64(m.NoiseMultiplier*m.NoiseMultiplier) + 1./12)
}

func (m GaussianHistogram) Uses() int64 { return m.Releases }

func (m GaussianHistogram) add(st *noise.Stream, counts []int64) error {
	st.IntegerGaussian(counts, m.NoiseMultiplier)
	return nil
}
