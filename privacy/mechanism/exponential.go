package mechanism

import (
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/noise"
)

// Exponential is the exponential mechanism (McSherry, Talwar 2007).
//
// Input, sensitivity and adjacency as in Scores. Release: one index, i with probability proportional
// to exp(rate * score[i]). Guarantee: Epsilon-DP with range bounded by Epsilon
// (Dong, Durfee, Rogers 2020), exactly for the law drawn here: scores lie on a
// grid and indexes are accepted with probability exp of a rational, by
// integers, so that no rounding of a weight leaks (Ilvento 2020 on why that
// matters; here base e is exact, so base 2 is not needed).
type Exponential struct{ Scores }

// Check serves smaller epsilons than other selections: no noise is drawn on the grid.
func (m Exponential) Check() error { return m.check(0x1p-24) }

func (m Exponential) Event(a privacy.Adjacency) privacy.Event {
	return repeated(m.Selections, privacy.Exponential{Epsilon: m.epsilon(a)})
}

// choose takes at most as many trials, on average, as there are candidates.
func (m Exponential) choose(st *noise.Stream, steps []int64, bits int) int {
	best := slices.Max(steps)
	for {
		i := int(st.Uint64n(uint64(len(steps))))
		if st.BernoulliExp(noise.Rational{Num: uint64(best - steps[i]), Den: 1 << bits}) {
			return i
		}
	}
}

// Probabilities returns the law of choose up to the rounding of scores, a factor
// of 2^-27 in Epsilon.
func (m Exponential) Probabilities(scores []float64) []float64 {
	out, sum := m.gaps(scores), 0.0
	for i, g := range out {
		out[i] = bitmath.Exp(-g)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// Scores says what the candidates of a selection are scored by.
//
// Input: one score for each of a list of Candidates that is public or a function of
// earlier releases; a candidate that is out has -Inf. One unit of the adjacency moves
// each score by at most Moves (norm Linf). Monotone says that a unit that comes or
// goes moves all scores in the same direction or not at all, as it does counts,
// which halves the noise under add_remove; replacing one moves them both ways.
// Epsilon is what one selection costs under Adjacency. Candidates is how many there
// are, privacy.AnyNumber where that follows from earlier releases: the guarantee of a
// selection does not depend on it.
//
// The noise is a function of Epsilon and of Moves under Adjacency; under the other
// one the same selection costs in proportion to what moves there.
type Scores struct {
	Epsilon    float64
	Adjacency  privacy.Adjacency
	Moves      Moves
	Monotone   bool
	Candidates int
	Selections int64
}

// scoreBits is the resolution of a score: the step of the grid is Epsilon/2
// (Epsilon if monotone) over about 2^30.
const scoreBits = 30

// mostSensitivities is where scores are clamped, in units of Sensitivity.
const mostSensitivities = 1 << 21

// Check refuses what the grid of scores does not serve.
func (s Scores) Check() error { return s.check(0x1p-9) }

// check judges the selection at epsilons from least on.
func (s Scores) check(least float64) error {
	if err := checkAdjacency(s.Adjacency); err != nil {
		return fmt.Errorf("selection: %w", err)
	}
	if !(s.Epsilon >= least && s.Epsilon <= 0x1p10) {
		return fmt.Errorf("selection: epsilon: is %g, must be between %g and 1024", s.Epsilon, least)
	}
	if err := s.Moves.check(s.Adjacency); err != nil {
		return fmt.Errorf("selection: %w", err)
	}
	if s.Candidates < 1 && s.Candidates != privacy.AnyNumber {
		return fmt.Errorf("selection: candidates: are %d, must be at least 1", s.Candidates)
	}
	return checkUses("selections", s.Selections)
}

func (s Scores) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.LInf, Bound: s.Moves.Under(a)}
}

func (s Scores) Uses() int64 { return s.Selections }

// epsilon returns what one selection costs. Under the adjacency that is not planned for
// two roundings to the grid, 2^-29 of Epsilon, come on top (see grid).
func (s Scores) epsilon(a privacy.Adjacency) float64 {
	if a == s.Adjacency {
		return s.Epsilon
	}
	return s.Epsilon * (s.spread(a)/s.spread(s.Adjacency) + 0x1p-28)
}

// spread returns how far one unit moves the difference of two scores.
func (s Scores) spread(a privacy.Adjacency) float64 {
	if s.Monotone && a == privacy.AddRemove {
		return s.Moves.AddRemove
	}
	return 2 * s.Moves.Under(a)
}

// rate returns the exponent that one unit of score is worth.
func (s Scores) rate() float64 { return s.Epsilon / s.spread(s.Adjacency) }

// grid returns the scores times rate as integers over 2^bits. One unit moves
// each of them by at most Epsilon/2 (Epsilon if monotone), exactly: the clamp
// moves nothing apart; one sensitivity is 3 steps less than it might be, and of
// two neighbours' scores each is off by at most half a step by rounding to the
// grid and half by float64, since products stay below 2^52. This costs at most
// 2^-27 of Epsilon. A NaN score is an error.
func (s Scores) grid(scores []float64) (steps []int64, bits int, err error) {
	if len(scores) == 0 || s.Candidates != privacy.AnyNumber && len(scores) != s.Candidates {
		return nil, 0, fmt.Errorf("selection: has %d scores, planned are %d candidates", len(scores), s.Candidates)
	}
	moves := s.Moves.Under(s.Adjacency)
	unit := s.rate() * moves
	_, exp := math.Frexp(unit)
	bits = scoreBits - exp
	perUnit := math.Floor(math.Ldexp(unit, bits)) - 3
	steps = make([]int64, len(scores))
	for i, x := range scores {
		if math.IsNaN(x) {
			return nil, 0, fmt.Errorf("selection: score of candidate %d is not a number", i)
		}
		steps[i] = int64(math.RoundToEven(min(max(x/moves, -mostSensitivities), mostSensitivities) * perUnit))
	}
	return steps, bits, nil
}

// gaps returns how far each score is below the best, in exponents, and without
// the rounding to the grid.
func (s Scores) gaps(scores []float64) []float64 {
	best := math.Inf(-1)
	for _, x := range scores {
		best = max(best, x)
	}
	out := make([]float64, len(scores))
	for i, x := range scores {
		out[i] = (best - x) * s.rate()
	}
	return out
}

// selector is a mechanism that selects one of Scores.
type selector interface {
	privacy.Mechanism
	grid(scores []float64) (steps []int64, bits int, err error)
	// choose returns an index; score i is steps[i]/2^bits in exponents.
	choose(st *noise.Stream, steps []int64, bits int) int
}

// Select returns the index of a candidate by the planned Exponential: one use.
func Select(h *privacy.Handle, scores []float64) (int, error) {
	m, err := planned[selector](h)
	if err != nil {
		return 0, err
	}
	steps, bits, err := m.grid(scores)
	if err != nil {
		return 0, err
	}
	u, err := h.Next()
	if err != nil {
		return 0, err
	}
	return privacy.Release(u, inputFor(u, scores), m.choose(u.Stream("selection", 0), steps, bits)), nil
}
