package mechanism

import (
	"math"
	"slices"

	"weir/privacy"
)

// ZCDPFilter releases integers, scores and choices in rounds that are chosen after
// looking at earlier ones, under a total of zero-concentrated privacy: what a
// GaussianFilter releases, and choices by the exponential mechanism.
//
// Input of a round: a vector whose sensitivity D under both adjacencies is stated, in
// L2 for a Gaussian round, in Linf for the scores of a choice. What is asked, D, the
// noise sigma, the candidates and the epsilon of a choice may depend on earlier outputs
// and on public facts, on nothing else. Release: the vector with Gaussian noise as in
// GaussianFilter, or one index as in Exponential. Cost: (D/sigma)^2, or epsilon^2/4 for
// a choice that is epsilon-DP under Adjacency: twice the rho of the round.
//
// Guarantee: rho-zCDP under Adjacency for the whole transcript, rho = Total/2, as long
// as the costs are at most Total on every path. That is the rho of a Gaussian release
// with NoiseMultiplier: 1/(2 NoiseMultiplier^2) under add_remove, four times that
// under replace_one. The event is zcdp, whose rho holds for the adjacency as it is:
// accountants double nothing, and a change of c rows costs c^2 times as much.
//
// Proof. A Gaussian round is D^2/(2 sigma^2)-zCDP (Bun, Steinke 2016), a
// choice, whose log ratios lie in an interval of length epsilon (bounded range; Dong,
// Durfee, Rogers 2020), is epsilon^2/8-zCDP (Cesar, Rogers 2021). Let P and Q
// be the laws of the transcript on two neighbours, L_i the log ratio of round i given
// the rounds before it, rho_i its cost over two, a function of the rounds before it,
// and a > 1. Given these, the mean of exp((a-1) L_i) under P is at most
// exp((a-1) a rho_i). So, from the last round to the first, the mean of
// exp((a-1) (sum L_i - a sum rho_i)) is at most 1, and since sum rho_i <= rho on every
// path, the mean of exp((a-1) sum L_i) is at most exp((a-1) a rho): the divergence of
// order a is at most a rho, for every a (Feldman, Zrnic 2021; Whitehouse, Ramdas,
// Rogers, Wu 2023, who also let the number of rounds depend on the past, as here).
//
// Under the adjacency that is not planned for: exchanging a unit is removing one and
// adding one, a group of two, so 4 rho (Bun, Steinke 2016, proposition 27); and where
// replace_one is planned, adding a unit moves no round further than exchanging one
// (other rounds are refused), so rho.
//
// NoiseMultiplier 0 is a run without privacy, as for GaussianFilter; a choice is then
// the first of the largest scores.
//
// Largest is as of GaussianFilter.
type ZCDPFilter struct {
	NoiseMultiplier float64
	Adjacency       privacy.Adjacency
	Largest         float64
}

func (m ZCDPFilter) Check() error {
	if err := checkFilter("zcdp filter", m.NoiseMultiplier, m.Adjacency); err != nil {
		return err
	}
	return checkLargest("zcdp filter", m.NoiseMultiplier, m.Largest, m.Total())
}

func (m ZCDPFilter) Event(a privacy.Adjacency) privacy.Event {
	rho := m.Total() / 2
	if a == privacy.ReplaceOne && m.Adjacency == privacy.AddRemove {
		rho *= 4
	}
	return privacy.ZCDP{Rho: rho}
}

// Sensitivity returns the sensitivity of a Gaussian release with as much rho as all rounds together. A
// round has its own (privacy.Round).
func (m ZCDPFilter) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return GaussianFilter{NoiseMultiplier: m.NoiseMultiplier, Adjacency: m.Adjacency}.Sensitivity(a)
}

func (m ZCDPFilter) Uses() int64 { return privacy.AnyNumber }

func (m ZCDPFilter) Total() float64 {
	return GaussianFilter{NoiseMultiplier: m.NoiseMultiplier, Adjacency: m.Adjacency}.Total()
}

// Noise returns the sigma of a Gaussian round of sensitivity d for the given cost.
func (m ZCDPFilter) Noise(d Moves, cost float64) float64 {
	return GaussianFilter{NoiseMultiplier: m.NoiseMultiplier, Adjacency: m.Adjacency}.Noise(d, cost)
}

// Epsilon returns the epsilon of a choice for the given cost.
func (m ZCDPFilter) Epsilon(cost float64) float64 { return 2 * math.Sqrt(cost) }

func (m ZCDPFilter) plannedFor() privacy.Adjacency { return m.Adjacency }

func (m ZCDPFilter) silent() bool { return m.NoiseMultiplier == 0 }

// Choose returns the index of one of the scores by an exponential mechanism: one round
// of the planned ZCDPFilter, for epsilon^2/4 of its total. One unit moves each score by
// at most d (norm Linf); index i has a probability proportional to
// exp(epsilon score[i] / (2 D)). Its law is exact, as the law of Exponential is. The
// scores belong to the candidates alone: one that is out is left out.
func Choose(h *privacy.Handle, scores []float64, d Moves, epsilon float64) (int, error) {
	m, err := planned[ZCDPFilter](h)
	if err != nil {
		return 0, err
	}
	if err := d.checkRound(m.Adjacency); err != nil {
		return 0, err
	}
	if m.silent() {
		epsilon = free
	}
	law := Exponential{Scores{Epsilon: epsilon, Adjacency: m.Adjacency, Moves: d, Candidates: len(scores), Selections: 1}}
	if err := law.Check(); err != nil {
		return 0, err
	}
	steps, bits, err := law.grid(scores)
	if err != nil {
		return 0, err
	}
	cost := epsilon * epsilon / 4
	u, err := h.Round(cost)
	if err != nil {
		return 0, err
	}
	in := privacy.Round{In: inputFor(u, scores), Sensitivity: law.Sensitivity(m.Adjacency), Cost: cost}
	if m.silent() {
		return privacy.Release(u, in, slices.Index(steps, slices.Max(steps))), nil
	}
	return privacy.Release(u, in, law.choose(u.Stream("choice", 0), steps, bits)), nil
}
