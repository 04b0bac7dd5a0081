package generator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/train"
)

// Prior is the law of the latent rows that a net turns into data: a mixture of
// normals, of which a row is drawn in proportion to its shares. None is the standard
// normal. A kind that learns it releases it: its numbers are noised.
type Prior []Normal

// Normal is a multivariate normal of covariance Factor·Factorᵀ.
type Normal struct {
	Share  float64     `json:"share"`
	Mean   []float64   `json:"mean"`
	Factor [][]float64 `json:"factor"` // lower triangular: row i has i+1 numbers
}

// check judges a prior of latent rows of n numbers.
func (p Prior) check(n int) error {
	if len(p) == 0 {
		return nil
	}
	shares := make([]float64, len(p))
	for k, c := range p {
		shares[k] = c.Share
		if len(c.Mean) != n || len(c.Factor) != n {
			return fmt.Errorf("prior[%d]: has %d means and %d rows of its factor, must have %d, the inputs of the net", k, len(c.Mean), len(c.Factor), n)
		}
		for i, row := range c.Factor {
			if len(row) != i+1 {
				return fmt.Errorf("prior[%d].factor[%d]: has %d numbers, must have %d", k, i, len(row), i+1)
			}
		}
	}
	if err := checkShares(shares); err != nil {
		return fmt.Errorf("prior: %w", err)
	}
	return nil
}

// checkShares: rows can be drawn in proportion to them.
func checkShares(shares []float64) error {
	sum := 0.0
	for i, s := range shares {
		if !(s >= 0) {
			return fmt.Errorf("[%d].share: is %g, must be at least 0", i, s)
		}
		sum += s
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return errors.New("shares: their sum must be a finite number above 0")
	}
	return nil
}

// pick draws a place in proportion to shares, which checkShares took.
func pick(shares []float64, r *rand.Rand) int {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	u, last := float64(r.Float64()*sum), 0
	for i, s := range shares {
		if s == 0 {
			continue
		}
		if last = i; u < s {
			return i
		}
		u -= s
	}
	return last // rounding left a little
}

// draw fills latent rows by the prior.
func (p Prior) draw() train.Latent {
	if len(p) == 0 {
		return train.StandardNormal
	}
	shares := make([]float64, len(p))
	for k, c := range p {
		shares[k] = c.Share
	}
	return func(row []float32, r *rand.Rand) {
		c := p[pick(shares, r)]
		z := make([]float64, len(row))
		for i := range z {
			z[i] = bitmath.Normal(r)
		}
		for i, mean := range c.Mean {
			for j, f := range c.Factor[i] {
				mean += float64(f * z[j])
			}
			row[i] = float32(mean)
		}
	}
}
