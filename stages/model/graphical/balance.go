package graphical

import (
	"fmt"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// spendName is the one mechanism of a stage.
const spendName = "marginals"

// balance spends the total of one filter on histograms and scores, and on choices where
// it is a ZCDPFilter.
//
// Input of a release: counts of rows in disjoint cells, or doubled scores of many
// sets. Sensitivity: as stated by mechanism.HistogramMoves, or scoreMoves. Adjacency: of
// the plan. Guarantee: as for the filter, as long as what is asked and the costs
// follow from earlier releases and public facts (docs/marginals.md section 2).
type balance struct {
	release func(values []int64, d mechanism.Moves, sigma float64) ([]int64, error)
	pick    func(scores []float64, d mechanism.Moves, epsilon float64) (int, error)
	filter  mechanism.GaussianFilter // by which noise is reckoned, alike for both
	silent  bool                     // epsilon: inf, nothing is added
	spent   float64
	left    func() float64
}

// nominal stands for the noise of a run without any: an estimate weighs its
// measurements by their variances, which must not be 0.
const nominal = 0x1p-8

func openBalance(env *pipeline.Env) (*balance, error) {
	paid, err := env.Privacy.Open(spendName)
	if err != nil {
		return nil, err
	}
	m, err := filterOf(paid.Mechanism())
	if err != nil {
		return nil, err
	}
	p := &balance{filter: m, silent: m.NoiseMultiplier == 0, left: paid.Left}
	p.release = func(values []int64, d mechanism.Moves, sigma float64) ([]int64, error) {
		return mechanism.ReleaseIntegers(paid, values, d, sigma)
	}
	p.pick = func(scores []float64, d mechanism.Moves, epsilon float64) (int, error) {
		return mechanism.Choose(paid, scores, d, epsilon)
	}
	if p.silent {
		p.filter.NoiseMultiplier = nominal
		p.left = func() float64 { return max(0, p.total()-p.spent) }
	}
	return p, nil
}

func filterOf(m privacy.Mechanism) (mechanism.GaussianFilter, error) {
	switch m := m.(type) {
	case mechanism.GaussianFilter:
		return m, nil
	case mechanism.ZCDPFilter:
		return mechanism.GaussianFilter{NoiseMultiplier: m.NoiseMultiplier, Adjacency: m.Adjacency}, nil
	}
	return mechanism.GaussianFilter{}, fmt.Errorf("%s: is planned as %T, must be a filter", spendName, m)
}

// total returns mu squared, for one changed row.
func (p *balance) total() float64 { return p.filter.Total() }

// scale returns the noise multiplier of the plan; 0: nothing is added.
func (p *balance) scale() float64 {
	if p.silent {
		return 0
	}
	return p.filter.NoiseMultiplier
}

// move returns the L2 sensitivity of a histogram under the adjacency of the plan.
func (p *balance) move() float64 { return mechanism.HistogramMoves().Under(p.filter.Adjacency) }

// leastSigma bounds integer noise; what it leaves of its cost is forfeited.
const leastSigma = 0x1p-10

// sigma returns the noise of a histogram for a part of the total.
func (p *balance) sigma(cost float64) float64 {
	return max(p.filter.Noise(mechanism.HistogramMoves(), cost), leastSigma)
}

// histogram releases the counts of rows in disjoint cells for a part of the total.
func (p *balance) histogram(counts []int64, cost float64) (noisy, error) {
	return p.integers(counts, mechanism.HistogramMoves(), cost)
}

// scores releases the doubled scores of pairs, all in one.
func (p *balance) scores(twice []int64, cost float64) (noisy, error) {
	return p.integers(twice, scoreMoves(len(twice)), cost)
}

// choose returns the place of one of the scores, by an exponential mechanism for a
// part of the total. One unit moves each score by at most d.
func (p *balance) choose(scores []float64, d mechanism.Moves, cost float64) (int, error) {
	p.spent += cost
	return p.pick(scores, d, min(2*math.Sqrt(cost), mostEpsilon))
}

// mostEpsilon is the greatest that a choice is drawn with, beyond which none is left to
// chance.
const mostEpsilon = 0x1p10

// noisy is what a release gave: numbers, and the variance of the noise of each.
type noisy struct {
	Y        []float64
	Variance float64
}

func (n noisy) sd() float64 { return math.Sqrt(n.Variance) }

func (p *balance) integers(values []int64, d mechanism.Moves, cost float64) (noisy, error) {
	sigma := max(p.filter.Noise(d, cost), leastSigma)
	p.spent += cost
	paid := sigma
	if p.silent {
		paid = 0
	}
	out, err := p.release(values, d, paid)
	if err != nil {
		return noisy{}, err
	}
	y := make([]float64, len(out))
	for i, v := range out {
		y[i] = float64(v)
	}
	return noisy{y, variance(sigma)}, nil
}

// variance returns the variance of a rounded normal number: rounding adds 1/12, to 1e-8 of it for
// a sigma of 1 and more, and hides the noise where sigma is far below.
func variance(sigma float64) float64 { return float64(sigma*sigma) + 1./12 }
