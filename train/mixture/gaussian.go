package mixture

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/portable"
)

// Gaussian is one component: its share of the mixture, a mean, and a symmetric
// covariance by rows.
type Gaussian struct {
	Weight     float64     `json:"weight"`
	Mean       []float64   `json:"mean"`
	Covariance [][]float64 `json:"covariance"`
}

// Mixture is the components of one label and the label's share of all rows. No
// components: nothing is known of the label but its share.
type Mixture struct {
	Share      float64    `json:"share"`
	Components []Gaussian `json:"components"`
}

// axes is a Gaussian in the coordinates of its eigenvectors.
type axes struct {
	weight  float64
	mean    []float64
	vectors [][]float64 // of unit length
	sd      []float64   // along each
	log     float64     // ln weight - sum ln sd
}

// axes wants a positive covariance.
func (g Gaussian) axes() (*axes, error) {
	values, vectors, ok := portable.SymmetricEigen(copied(g.Covariance))
	if !ok {
		return nil, fmt.Errorf("covariance: has eigenvalues that are not found, must be symmetric and finite")
	}
	a := &axes{weight: g.Weight, mean: g.Mean, vectors: vectors, log: portable.Log(g.Weight)}
	for _, v := range values {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("covariance: has the eigenvalue %g, must have positive ones", v)
		}
		a.sd = append(a.sd, math.Sqrt(v))
		a.log -= float64(portable.Log(v) / 2)
	}
	return a, nil
}

// density is the logarithm of weight times density at x, less dim/2 ln 2 pi.
func (a *axes) density(x, less []float64) float64 {
	for j, m := range a.mean {
		less[j] = x[j] - m
	}
	sum := 0.0
	for k, v := range a.vectors {
		y := portable.Dot(less, v) / a.sd[k]
		sum += float64(y * y)
	}
	return a.log - float64(sum/2)
}

// draw sets x to a draw.
func (a *axes) draw(x []float64, r *rand.Rand) {
	copy(x, a.mean)
	for k, v := range a.vectors {
		portable.Axpy(float64(a.sd[k]*portable.Normal(r)), v, x)
	}
}

func copied(m [][]float64) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = slices.Clone(m[i])
	}
	return out
}

// check judges a component that may come from anyone.
func (g Gaussian) check(dim int) error {
	if !(g.Weight >= 0) || math.IsInf(g.Weight, 1) {
		return fmt.Errorf("weight: is %g, must be a finite number of at least 0", g.Weight)
	}
	if len(g.Mean) != dim || len(g.Covariance) != dim {
		return fmt.Errorf("mean: has %d numbers and covariance %d rows, both must be %d, what the decoder takes", len(g.Mean), len(g.Covariance), dim)
	}
	for i, row := range g.Covariance {
		if len(row) != dim {
			return fmt.Errorf("covariance[%d]: has %d numbers, must have %d", i, len(row), dim)
		}
		for j, v := range row {
			if v-v != 0 || j < i && v != g.Covariance[j][i] {
				return fmt.Errorf("covariance[%d][%d]: is %g, must be finite and equal to its mirror image", i, j, v)
			}
		}
		if g.Mean[i]-g.Mean[i] != 0 {
			return fmt.Errorf("mean[%d]: is %g, must be finite", i, g.Mean[i])
		}
	}
	return nil
}
