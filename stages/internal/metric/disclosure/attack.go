package disclosure

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// Rate is a share of n trials with its Clopper-Pearson interval of 95 %.
type Rate struct {
	Share, Low, High float64
	N                int
}

// NewRate is k successes in n independent trials; NaN for none.
func NewRate(k, n int) Rate {
	if n == 0 {
		return Rate{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	// Clopper, Pearson 1934: quantiles of the beta distribution.
	const tail = 0.025
	r := Rate{Share: float64(k) / float64(n), High: 1, N: n}
	if k > 0 {
		r.Low = bitmath.BetaQuantile(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		r.High = bitmath.BetaQuantile(float64(k+1), float64(n-k), 1-tail)
	}
	return r
}

// Membership is how well a score tells members from others.
type Membership struct {
	// Power is the share of members above the threshold, FalsePositive that of
	// others which did not set it.
	Power, FalsePositive Rate
}

// NewMembership attacks with scores that are higher for likely members. The
// threshold is set on the even places of others, so that at most `rate` of them
// are above it, and judged on the odd ones. All are NaN where a list is empty.
func NewMembership(members, others []float64, rate float64) Membership {
	var set, held []float64
	for i, v := range others {
		if i%2 == 0 {
			set = append(set, v)
		} else {
			held = append(held, v)
		}
	}
	if len(members) == 0 || len(held) == 0 {
		return Membership{NewRate(0, 0), NewRate(0, 0)}
	}
	slices.Sort(set)
	threshold := set[len(set)-1-int(rate*float64(len(set)))]
	return Membership{Power: above(members, threshold), FalsePositive: above(held, threshold)}
}

func above(x []float64, threshold float64) Rate {
	k := 0
	for _, v := range x {
		if v > threshold {
			k++
		}
	}
	return NewRate(k, len(x))
}
