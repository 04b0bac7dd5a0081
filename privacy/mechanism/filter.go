package mechanism

import (
	"fmt"
	"math"

	"weir/privacy"
)

// GaussianFilter releases integers and scores in rounds that are chosen after
// looking at earlier ones, for the price of one Gaussian release.
//
// Input of a round: a vector whose L2 sensitivity D under both adjacencies is stated
// (HistogramMoves for one histogram over disjoint cells). What is asked, D and
// the noise sigma may depend on earlier outputs and on public facts, on nothing else.
// Release: the vector with Gaussian noise, integers with round(N). Cost: (D/sigma)^2
// under Adjacency. Guarantee: that of the Gaussian mechanism with NoiseMultiplier, as
// long as all costs are at most Total, which is mu^2: 1/NoiseMultiplier^2 under
// add_remove and four times that under replace_one, where accountants double the
// sensitivity. Proof: each round is the next stretch, of length at most its cost, of
// one Brownian motion whose drift says which neighbour it is; whatever is chosen on
// the way, the transcript is post-processing of the path up to mu^2, that is of N(0, 1)
// against N(mu, 1) (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023). The law's
// error is noise.CellError.
//
// Under the adjacency that is not planned for: exchanging a unit is removing one
// and adding one, which is what the accountant's factor of two says; and adding one
// moves no round further than exchanging one (ReleaseIntegers and ReleaseScores
// refuse others), which is mu = 2/NoiseMultiplier, so the event there has half of
// the multiplier.
//
// NoiseMultiplier 0 is a run without privacy (epsilon: inf): every round has sigma 0,
// nothing is added, and no number of rounds reaches Total, which is infinite.
type GaussianFilter struct {
	NoiseMultiplier float64
	Adjacency       privacy.Adjacency
}

func (m GaussianFilter) Check() error {
	if m.NoiseMultiplier != 0 && !(m.NoiseMultiplier >= 0x1p-20 && m.NoiseMultiplier <= 0x1p40) {
		return fmt.Errorf("gaussian filter: noise multiplier: is %g, must be between 2^-20 and 2^40, or 0 for none", m.NoiseMultiplier)
	}
	return checkAdjacency(m.Adjacency)
}

func (m GaussianFilter) Event(a privacy.Adjacency) privacy.Event {
	if a == privacy.AddRemove && m.Adjacency == privacy.ReplaceOne {
		return privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier / 2}
	}
	return privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier}
}

// Sensitivity is about what the rounds report as having gone in, which is the input
// over sigma: it moves by the root of the round's cost, so one round moves by at most
// the root of Total, and so do all rounds together as one vector.
func (m GaussianFilter) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	mu := 2 / m.NoiseMultiplier
	if a == privacy.AddRemove && m.Adjacency == privacy.AddRemove {
		mu = 1 / m.NoiseMultiplier
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: mu}
}

func (m GaussianFilter) Uses() int64 { return privacy.AnyNumber }

func (m GaussianFilter) Total() float64 {
	mu := m.Sensitivity(m.Adjacency).Bound
	return mu * mu
}

// Noise is the sigma of a round of sensitivity d for the given cost.
func (m GaussianFilter) Noise(d Moves, cost float64) float64 {
	return d.Under(m.Adjacency) / math.Sqrt(cost)
}

// round takes a round of the planned filter. It is refused where it would pass
// Total, and before that where its parameters have no proof.
func round(h *privacy.Handle, d Moves, sigma float64) (*privacy.Use, error) {
	m, err := planned[GaussianFilter](h)
	if err != nil {
		return nil, err
	}
	if err := d.check(m.Adjacency); err != nil {
		return nil, err
	}
	if m.Adjacency == privacy.ReplaceOne && d.AddRemove > d.ReplaceOne {
		return nil, fmt.Errorf("sensitivity: is %g under add_remove, must be at most %g, that of replace_one", d.AddRemove, d.ReplaceOne)
	}
	if silent(m) {
		return h.Round(1)
	}
	root := d.Under(m.Adjacency) / sigma
	return h.Round(root * root)
}

// silent reports that a filter adds nothing: its price is an infinite epsilon.
func silent(m privacy.Mechanism) bool {
	f, ok := m.(GaussianFilter)
	return ok && f.NoiseMultiplier == 0
}

// ReleaseHistogram returns the counts of units in disjoint cells with integer
// Gaussian noise sigma, for 1/sigma^2 of the filter's total (add_remove) or
// 2/sigma^2 (replace_one).
func ReleaseHistogram(h *privacy.Handle, counts []int64, sigma float64) ([]int64, error) {
	return ReleaseIntegers(h, counts, HistogramMoves(), sigma)
}

// ReleaseIntegers returns integers of L2 sensitivity d with integer Gaussian noise.
// Sigma 0 is taken from a filter of multiplier 0 alone.
func ReleaseIntegers(h *privacy.Handle, values []int64, d Moves, sigma float64) ([]int64, error) {
	none := silent(h.Mechanism())
	if none && sigma != 0 {
		return nil, fmt.Errorf("sigma: is %g, must be 0, as the filter's noise is", sigma)
	}
	if err := checkSigma("sigma", sigma); err != nil && !none {
		return nil, err
	}
	u, err := round(h, d, sigma)
	if err != nil {
		return nil, err
	}
	out := clamped(values)
	if none {
		return privacy.Release(u, kept(u, values), out), nil
	}
	u.Stream("integers", 0).IntegerGaussian(out, sigma)
	return privacy.Release(u, scaled(u, values, sigma), out), nil
}

// ReleaseScores returns numbers of L2 sensitivity d with Gaussian noise, on a
// lattice that is a function of d, sigma and their number. The noise is sigma and the
// little more that pays for the rounding (see grid).
func ReleaseScores(h *privacy.Handle, scores []float64, d Moves, sigma float64) ([]float64, error) {
	m, err := planned[GaussianFilter](h)
	if err != nil {
		return nil, err
	}
	if err := d.check(m.Adjacency); err != nil {
		return nil, err
	}
	step, paid, err := scoreGrid(d.Under(m.Adjacency), sigma, len(scores))
	if err != nil {
		return nil, err
	}
	u, err := round(h, d, sigma)
	if err != nil {
		return nil, err
	}
	return privacy.Release(u, scaled(u, scores, sigma), onLattice(u, scores, paid, step)), nil
}

func scoreGrid(bound, sigma float64, n int) (step, paid float64, err error) {
	if n < 1 || !(sigma > 0x1p-400 && sigma < 0x1p400) {
		return 0, 0, fmt.Errorf("scores: are %d, must be at least one; sigma: is %g, must be positive and finite", n, sigma)
	}
	return grid(bound, sigma, n)
}

// scaled is what a round reports: see Sensitivity.
func scaled[T int64 | float64](u *privacy.Use, in []T, sigma float64) []float64 {
	if !u.Probed() {
		return nil
	}
	out := make([]float64, len(in))
	for i, x := range in {
		out[i] = float64(x) / sigma
	}
	return out
}
