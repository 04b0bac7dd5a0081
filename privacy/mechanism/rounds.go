package mechanism

import (
	"fmt"

	"weir/privacy"
)

// inRounds is a filter whose rounds add Gaussian noise, each for the square of its
// sensitivity over its noise: GaussianFilter or ZCDPFilter.
type inRounds interface {
	privacy.Filter
	plannedFor() privacy.Adjacency
	// silent reports that nothing is added: the price is an infinite epsilon.
	silent() bool
}

func checkFilter(what string, multiplier float64, a privacy.Adjacency) error {
	if multiplier != 0 && !(multiplier >= 0x1p-20 && multiplier <= 0x1p40) {
		return fmt.Errorf("%s: noise multiplier: is %g, must be between 2^-20 and 2^40, or 0 for none", what, multiplier)
	}
	return checkAdjacency(a)
}

// free is what a round costs of an infinite total.
const free = 1

// round takes a Gaussian round of the planned filter. It is refused where it would
// pass Total, and before that where its parameters have no proof.
func round(h *privacy.Handle, d Moves, sigma float64) (*privacy.Use, privacy.Round, error) {
	m, err := planned[inRounds](h)
	if err != nil {
		return nil, privacy.Round{}, err
	}
	if err := d.checkRound(m.plannedFor()); err != nil {
		return nil, privacy.Round{}, err
	}
	bound := d.Under(m.plannedFor())
	cost := bound / sigma * (bound / sigma)
	if m.silent() {
		cost = free
	}
	u, err := h.Round(cost)
	return u, privacy.Round{Sensitivity: privacy.Sensitivity{Norm: privacy.L2, Bound: bound}, Cost: cost}, err
}

// checkRound wants of a round what the filters' proofs use: under replace_one that
// adding a unit moves no further than exchanging one.
func (m Moves) checkRound(a privacy.Adjacency) error {
	if err := m.check(a); err != nil {
		return err
	}
	if a == privacy.ReplaceOne && m.AddRemove > m.ReplaceOne {
		return fmt.Errorf("sensitivity: is %g under add_remove, must be at most %g, that of replace_one", m.AddRemove, m.ReplaceOne)
	}
	return nil
}

// ReleaseIntegers returns integers of L2 sensitivity d with integer Gaussian noise, for
// d^2/sigma^2 of the filter's total: counts of units in disjoint cells have HistogramMoves.
// Sigma 0 is taken from a filter of multiplier 0 alone.
func ReleaseIntegers(h *privacy.Handle, values []int64, d Moves, sigma float64) ([]int64, error) {
	m, _ := h.Mechanism().(inRounds)
	none := m != nil && m.silent()
	if none && sigma != 0 {
		return nil, fmt.Errorf("sigma: is %g, must be 0, as the filter's noise is", sigma)
	}
	if err := checkSigma("sigma", sigma); err != nil && !none {
		return nil, err
	}
	u, in, err := round(h, d, sigma)
	if err != nil {
		return nil, err
	}
	in.In = kept(u, values)
	out := clamped(values)
	if none {
		return privacy.Release(u, in, out), nil
	}
	u.Stream("integers", 0).IntegerGaussian(out, sigma)
	return privacy.Release(u, in, out), nil
}
