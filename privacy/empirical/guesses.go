// Package empirical bounds privacy loss from below by what an attack saw: guesses on which canaries were among the rows
// of a run, and how often one canary was told in repeated runs. Its functions are pure; docs/design/canary.md proves
// what each of them returns.
package empirical

import (
	"fmt"
	"math"

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

// Tradeoff returns the least chance of a false alarm of any test that tells two neighbouring tables apart by the output
// of a mechanism, in either direction, where the test finds the change with chance power, in [0, 1]. It is 0 at 0, does
// not fall and is convex; the greater it is, the more private is the mechanism. In the notation of Dong, Roth and Su
// 2022 it is the inverse of 1-f.
type Tradeoff func(power float64) float64

// Gaussian returns the trade-off of two normal laws of deviation 1 whose means are mu apart: Gaussian differential
// privacy (Dong, Roth, Su 2022, section 2.2).
func Gaussian(mu float64) Tradeoff {
	return func(power float64) float64 {
		if power <= 0 || power >= 1 {
			return min(max(power, 0), 1)
		}
		return bitmath.NormalTail(mu - bitmath.NormalQuantile(power))
	}
}

// Bounded returns the trade-off of (epsilon, delta)-differential privacy and nothing else (Wasserman, Zhou 2010;
// Kairouz, Oh, Viswanath 2015).
func Bounded(epsilon, delta float64) Tradeoff {
	step := bitmath.Exp(epsilon)
	return func(power float64) float64 {
		least := max(0, (power-delta)/step)
		if power > 0.5 { // the other side is below, and its rounding would not be small beside a small power
			least = max(least, 1-delta-float64(step*(1-power)))
		}
		return least
	}
}

// Profile returns the trade-off of a mechanism that is (epsilons[i], deltas[i])-differentially private for every i:
// what an accountant proves at some epsilons, which bounds what it proves at all.
func Profile(epsilons, deltas []float64) (Tradeoff, error) {
	if len(epsilons) == 0 || len(epsilons) != len(deltas) {
		return nil, fmt.Errorf("profile: has %d epsilons and %d deltas, must have one of each or more", len(epsilons),
			len(deltas))
	}
	parts := make([]Tradeoff, len(epsilons))
	for i, e := range epsilons {
		if !(e >= 0 && deltas[i] >= 0 && deltas[i] <= 1) {
			return nil, fmt.Errorf("profile: has epsilon %v with delta %v, must have numbers of at least 0, deltas of at most 1",
				e, deltas[i])
		}
		parts[i] = Bounded(e, deltas[i])
	}
	return func(power float64) (least float64) {
		for _, part := range parts {
			least = max(least, part(power))
		}
		return least
	}, nil
}

// Rates counts what a test said in independent runs with one canary: in how many of the runs with it there (or with the
// second of its two rows) the test found it, and in how many of the others.
type Rates struct {
	With    int `json:"runs_with"`
	Found   int `json:"found"`
	Without int `json:"runs_without"`
	Alarms  int `json:"alarms"`
}

// check refuses counts that no test has.
func (r Rates) check() error {
	if r.Found < 0 || r.Found > r.With || r.Alarms < 0 || r.Alarms > r.Without || r.With < 1 || r.Without < 1 {
		return fmt.Errorf("rates: are %d of %d runs and %d of %d, must be 0 to that many of 1 run or more", r.Found, r.With,
			r.Alarms, r.Without)
	}
	return nil
}

// Refute reports whether the exact limits of the two rates (Clopper, Pearson 1934), each with half of alarm, exclude
// trade-off f: the least power that stays possible needs more false alarms than stay possible. A mechanism of that
// trade-off is refuted with chance alarm at most.
func (r Rates) Refute(f Tradeoff, alarm float64) bool {
	if r.check() != nil || r.Found == 0 || r.Alarms == r.Without {
		return false
	}
	power := bitmath.BetaQuantile(float64(r.Found), float64(r.With-r.Found)+1, alarm/2)
	most := 1 - bitmath.BetaQuantile(float64(r.Without-r.Alarms), float64(r.Alarms)+1, alarm/2)
	return f(power) > most
}

// Epsilons returns the places at which a profile is taken: n of them from 0 to most, dense near 0.
func Epsilons(n int, most float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		part := float64(i) / float64(max(n-1, 1))
		list[i] = float64(most*math.Sqrt(part)) * math.Sqrt(part)
	}
	return list
}
