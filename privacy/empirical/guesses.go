// Package empirical bounds privacy loss from below by what an attack saw: guesses on which canaries were among the rows
// of a run, and how often one canary was told in repeated runs. Its functions are pure; docs/design/canary.md proves
// what each of them returns.
package empirical

import (
	"fmt"

	"weir/internal/bitmath"
)

// Guesses counts what an attack said of one run. Each canary was one of two choices (a row that is there or not, or one
// of two rows) by a fair coin of its own, and the attack, which saw the output alone, guessed the coins of exactly Made
// canaries, a number that was fixed before the run.
type Guesses struct {
	Canaries int `json:"canaries"`
	Made     int `json:"guesses"`
	Correct  int `json:"correct"`
}

// check refuses counts that no attack has.
func (g Guesses) check() error {
	if g.Correct < 0 || g.Correct > g.Made || g.Made > g.Canaries || g.Canaries < 1 {
		return fmt.Errorf("guesses: are %d right of %d on %d canaries, must be 0 to that many of 1 canary or more",
			g.Correct, g.Made, g.Canaries)
	}
	return nil
}

// Chance returns an upper bound on the chance that an attack on a mechanism whose trade-off is f or greater has so many
// correct guesses or more: a p-value against f. It takes some 40 times Correct evaluations of f.
//
// Input: guesses on independent fair coins, their number fixed. Adjacency: the one of f, for each canary with all
// others as they are; canaries may meet in the mechanism as they like. Guarantee: docs/design/canary.md, theorem 1.
// Reference: Mahloujifar, Melis and Chaudhuri 2024, arXiv 2410.22235, whose recursion it sharpens to tails.
func (g Guesses) Chance(f Tradeoff) (float64, error) {
	if err := g.check(); err != nil {
		return 1, err
	}
	if g.mass(f, 1) <= 1 {
		return 1, nil
	}
	low, high := bitmath.Log(leastChance), 0.0
	for range 40 { // an error of 1e-10 of the chance
		if mid := (low + high) / 2; g.mass(f, bitmath.Exp(mid)) > 1 {
			high = mid
		} else {
			low = mid
		}
	}
	return bitmath.Exp(high), nil
}

// leastChance is below all that Chance returns: beyond, floats would not carry the recursion.
const leastChance = 1e-100

// Refute reports whether a mechanism of trade-off f gives so many correct guesses with chance below alarm.
func (g Guesses) Refute(f Tradeoff, alarm float64) bool {
	return g.check() == nil && g.mass(f, max(alarm, leastChance)) > 1
}

// mass returns the least chance of any number of correct guesses at all, were Correct or more as likely as given:
// above 1 it cannot be. From the tail N(j), the chance of j or more, follows
//
//	N(j-1) >= (m f(R(j)) + N(j) + N(j+1) + ...) / (r-j+1),  R(j) = (j N(j) + N(j+1) + N(j+2) + ...) / m,
//
// which rises in every N: the least tails come from the least tails.
func (g Guesses) mass(f Tradeoff, chance float64) float64 {
	m, tail, higher := float64(g.Canaries), chance, 0.0
	for j := g.Correct; j >= 1 && tail <= 1; j-- {
		power := (float64(float64(j)*tail) + higher) / m
		higher += tail
		tail = max(tail, (float64(m*f(power))+higher)/float64(g.Made-j+1))
	}
	return tail
}

// CombinedChance returns the p-value of independent runs of one hypothesis: Fisher's product of p-values, each of which
// is at most t with a chance of at most t.
func CombinedChance(chances []float64) float64 {
	sum := 0.0
	for _, p := range chances {
		sum -= bitmath.Log(p)
	}
	return bitmath.ChiSquareTail(2*len(chances), float64(2*sum))
}

// Largest returns the greatest x in [0, most], to a relative error of 1e-4 downwards, such that refuted holds there;
// 0 where it does not hold above. It has to hold below wherever it holds.
func Largest(most float64, refuted func(x float64) (bool, error)) (float64, error) {
	low, high := 0.0, most
	for high-low > 1e-4*high && high > 1e-9*most {
		mid := (low + high) / 2
		proves, err := refuted(mid)
		if err != nil {
			return 0, err
		}
		if proves {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}
