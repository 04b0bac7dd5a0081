package empirical

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
)

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
