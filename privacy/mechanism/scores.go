// Package mechanism releases selections, counts, quantiles, bounds and open
// category sets. Each mechanism is a config value with a method that draws,
// which takes a paid *noise.Source, and a method Event that describes the same
// draw, so that what is done and what is charged come from one place. What is
// drawn is exact: integers and rational probabilities, or, where said, a float
// choice whose error is paid out of epsilon.
package mechanism

import (
	"fmt"
	"math"
)

// Scores says what the candidates of a selection are scored by: numbers that
// change by at most Sensitivity when one unit changes under the adjacency of
// the charge. Monotone says that one unit moves all scores in the same
// direction or not at all (counts under add_remove, never under replace_one),
// which halves the noise.
type Scores struct {
	Epsilon     float64
	Sensitivity float64
	Monotone    bool
}

// scoreBits is the resolution of a score: the step of the grid is Epsilon/2
// (Epsilon if monotone) over about 2^30.
const scoreBits = 30

// mostSensitivities is where scores are clamped, in units of Sensitivity.
const mostSensitivities = 1 << 21

func (s Scores) check() error {
	if !(s.Epsilon >= 0x1p-9 && s.Epsilon <= 0x1p10) {
		return fmt.Errorf("selection: epsilon: is %g, must be between 1/512 and 1024", s.Epsilon)
	}
	if !(s.Sensitivity > 0x1p-500 && s.Sensitivity < 0x1p500) {
		return fmt.Errorf("selection: sensitivity: is %g, must be positive and finite", s.Sensitivity)
	}
	return nil
}

// rate is the exponent that one unit of score is worth.
func (s Scores) rate() float64 {
	if s.Monotone {
		return s.Epsilon / s.Sensitivity
	}
	return s.Epsilon / (2 * s.Sensitivity)
}

// grid returns the scores times rate as integers over 2^bits. One unit moves
// each of them by at most Epsilon/2 (Epsilon if monotone), exactly: the clamp
// moves nothing apart; one Sensitivity is 3 steps less than it might be, and of
// two neighbours' scores each is off by at most half a step by rounding to the
// grid and half by float64, since products stay below 2^52. This costs at most
// 2^-27 of Epsilon. A NaN score is an error.
func (s Scores) grid(scores []float64) (steps []int64, bits int, err error) {
	if err := s.check(); err != nil {
		return nil, 0, err
	}
	if len(scores) == 0 {
		return nil, 0, fmt.Errorf("selection: has no candidates, must have at least one")
	}
	unit := s.rate() * s.Sensitivity
	_, exp := math.Frexp(unit)
	bits = scoreBits - exp
	perUnit := math.Floor(math.Ldexp(unit, bits)) - 3
	steps = make([]int64, len(scores))
	for i, x := range scores {
		if math.IsNaN(x) {
			return nil, 0, fmt.Errorf("selection: score of candidate %d is not a number", i)
		}
		steps[i] = int64(math.RoundToEven(min(max(x/s.Sensitivity, -mostSensitivities), mostSensitivities) * perUnit))
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
