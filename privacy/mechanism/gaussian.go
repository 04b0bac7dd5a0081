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

// GaussianSum adds Gaussian noise to a vector of float64, on a lattice.
//
// Input: Dim numbers, as computed, that one unit's presence moves by at most Bound
// in L2; so Bound includes what rounding does to a sum of contributions. Release:
// the vector, rounded to the lattice, with noise on it of standard deviation
// NoiseMultiplier times what the rounded vector moves, Bound + step sqrt(Dim), which
// is hardly more than Bound (see grid). Guarantee: that of the Gaussian
// mechanism with NoiseMultiplier; under replace_one both terms at most double and the
// accountant applies the factor. Reference: Mironov 2012 on why a lattice,
// noise.Lattice for the proof and noise.CellError for the error of the law.
type GaussianSum struct {
	NoiseMultiplier, Bound float64
	Dim                    int
	Releases               int64
}

func (m GaussianSum) Check() error {
	if !(m.Bound > 0x1p-400 && m.Bound < 0x1p400) || !(m.NoiseMultiplier >= 0x1p-20) || m.Dim < 1 {
		return fmt.Errorf("gaussian sum: bound: is %g, must be positive and finite; noise multiplier: is %g, must be at least 2^-20; dim: is %d, must be at least 1", m.Bound, m.NoiseMultiplier, m.Dim)
	}
	if _, _, err := grid(m.Bound, m.NoiseMultiplier*m.Bound, m.Dim); err != nil {
		return fmt.Errorf("gaussian sum: %w", err)
	}
	return checkUses("releases", m.Releases)
}

// grid returns the spacing on which dim numbers of L2 sensitivity bound are released
// with noise of at least sigma, and the noise that pays for rounding both
// neighbours to it: sigma (bound + step sqrt(dim)) / bound. That is more by at most
// 2^-20, or as little as 2^39 steps in sigma allow, up to 2^-10.
func grid(bound, sigma float64, dim int) (step, paid float64, err error) {
	_, least := math.Frexp(sigma * 0x1p-39)
	step = max(noise.LatticeStep(bound*0x1p-10, sigma, dim), math.Ldexp(1, least))
	loss := step * math.Sqrt(float64(dim)) / bound
	if !(loss <= 0x1p-10) {
		return 0, 0, fmt.Errorf("noise: is %g on %d numbers of sensitivity %g, more than 2^39 steps of a lattice that is fine enough", sigma, dim, bound)
	}
	return step, sigma * (1 + loss) * (1 + 0x1p-50), nil
}

func (m GaussianSum) Event(privacy.Adjacency) privacy.Event {
	return repeated(m.Releases, privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier})
}

func (m GaussianSum) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L2, Bound: Moves{m.Bound, 2 * m.Bound}.Under(a)}
}

// Deviation is that of the noise, without what rounding to the lattice adds.
func (m GaussianSum) Deviation() float64 {
	_, sigma, err := grid(m.Bound, m.NoiseMultiplier*m.Bound, m.Dim)
	if err != nil {
		return 0
	}
	return sigma
}

func (m GaussianSum) Uses() int64 { return m.Releases }

// ReleaseSum returns the vector with the noise of the planned GaussianSum: one use.
func ReleaseSum(h *privacy.Handle, sum []float64) ([]float64, error) {
	m, err := planned[GaussianSum](h)
	if err != nil {
		return nil, err
	}
	if len(sum) != m.Dim {
		return nil, fmt.Errorf("%s: the vector has %d numbers, planned are %d", h.Spend(), len(sum), m.Dim)
	}
	u, err := h.Next()
	if err != nil {
		return nil, err
	}
	step, sigma, err := grid(m.Bound, m.NoiseMultiplier*m.Bound, m.Dim)
	if err != nil {
		return nil, err
	}
	return privacy.Release(u, kept(u, sum), onLattice(u, sum, sigma, step)), nil
}

func onLattice(u *privacy.Use, in []float64, sigma, step float64) []float64 {
	out := append([]float64(nil), in...)
	noise.RoundToLattice(out, step)
	u.Stream("sum", 0).LatticeGaussian64(out, sigma, step)
	return out
}
