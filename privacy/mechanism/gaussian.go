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
// where a unit leaves one cell and joins another. Guarantee: the guarantee of the Gaussian
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

// checkSigma checks the deviation of integer Gaussian noise.
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

// Deviation returns the standard deviation of a rounded normal number: rounding adds 1/12 to the variance,
// to 1e-8 of it for multipliers of 1 and more.
func (m GaussianHistogram) Deviation() float64 {
	return math.Sqrt(float64(m.NoiseMultiplier*m.NoiseMultiplier) + 1./12)
}

func (m GaussianHistogram) Uses() int64 { return m.Releases }

func (m GaussianHistogram) add(st *noise.Stream, counts []int64) error {
	st.IntegerGaussian(counts, m.NoiseMultiplier)
	return nil
}

// GaussianFilter releases integers and scores in rounds that are chosen after
// looking at earlier ones, for the price of one Gaussian release.
//
// Input of a round: a vector whose L2 sensitivity D under both adjacencies is stated
// (HistogramMoves for one histogram over disjoint cells). What is asked, D and
// the noise sigma may depend on earlier outputs and on public facts, on nothing else.
// Release: the vector with Gaussian noise, integers with round(N). Cost: (D/sigma)^2
// under Adjacency. Guarantee: the guarantee of the Gaussian mechanism with NoiseMultiplier, as
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
// moves no round further than exchanging one (ReleaseIntegers
// refuses others), which is mu = 2/NoiseMultiplier, so the event there has half of
// the multiplier.
//
// NoiseMultiplier 0 is a run without privacy (epsilon: inf): every round has sigma 0,
// nothing is added, and no number of rounds reaches Total, which is infinite.
//
// Largest is the most that D over the root of a round's share of Total will be; 0 where that is not
// known. It is not part of the guarantee: a plan whose noise could not be drawn is refused by
// it before it is paid for.
type GaussianFilter struct {
	NoiseMultiplier float64
	Adjacency       privacy.Adjacency
	Largest         float64
}

func (m GaussianFilter) Check() error {
	if err := checkFilter("gaussian filter", m.NoiseMultiplier, m.Adjacency); err != nil {
		return err
	}
	return checkLargest("gaussian filter", m.NoiseMultiplier, m.Largest, m.Total())
}

// checkLargest refuses a filter whose largest round would have more noise than can be drawn.
func checkLargest(what string, multiplier, largest, total float64) error {
	if sigma := largest / math.Sqrt(total); multiplier > 0 && !(sigma <= mostSigma) {
		return fmt.Errorf("%s: the noise of a round is %.3g whole numbers, must be at most 2^40: a greater epsilon, less "+
			"noise, or fewer questions, steps or queries", what, sigma)
	}
	return nil
}

// mostSigma is the greatest noise of whole numbers (noise.Rational).
const mostSigma = 0x1p40

func (m GaussianFilter) Event(a privacy.Adjacency) privacy.Event {
	if a == privacy.AddRemove && m.Adjacency == privacy.ReplaceOne {
		return privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier / 2}
	}
	return privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier}
}

// Sensitivity returns the sensitivity of all rounds together as one vector, each over its sigma: the
// root of Total. A round has its own (privacy.Round).
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
	return float64(mu * mu)
}

// Noise returns the sigma of a round of sensitivity d for the given cost.
func (m GaussianFilter) Noise(d Moves, cost float64) float64 {
	return d.Under(m.Adjacency) / math.Sqrt(cost)
}

func (m GaussianFilter) plannedFor() privacy.Adjacency { return m.Adjacency }

func (m GaussianFilter) silent() bool { return m.NoiseMultiplier == 0 }
