package em

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
)

// Gaussian is one component: its share of the mixture, a mean, and the lower triangular
// factor of its covariance, Factor times its transpose; row i has i+1 numbers.
type Gaussian struct {
	Weight float64
	Mean   []float64
	Factor [][]float64
}

// Mixture is the components of one label and the label's share of all rows.
type Mixture struct {
	Share      float64
	Components []Gaussian
}

// density is the logarithm of weight times density at x, less dim/2 ln 2 pi; y is working
// memory.
func (g *Gaussian) density(x, y []float64) float64 {
	sum := bitmath.Log(g.Weight)
	for i, row := range g.Factor {
		left := x[i] - g.Mean[i]
		for j, f := range row[:i] {
			left -= float64(f * y[j])
		}
		y[i] = left / row[i]
		sum -= float64(float64(y[i]*y[i])/2) + bitmath.Log(row[i])
	}
	return sum
}

// draw sets x to a draw.
func (g *Gaussian) draw(x []float64, r *rand.Rand) {
	z := make([]float64, len(x))
	for i, row := range g.Factor {
		z[i] = bitmath.Normal(r)
		x[i] = g.Mean[i]
		for j, f := range row {
			x[i] += float64(f * z[j])
		}
	}
}

// factored is the Cholesky factor of a symmetric matrix; false where it is not positive.
func factored(m [][]float64) (factor [][]float64, ok bool) {
	for i, row := range m {
		factor = append(factor, make([]float64, i+1))
		for j, of := range factor {
			left := row[j]
			for k := range j {
				left -= float64(factor[i][k] * of[k])
			}
			switch {
			case j < i:
				factor[i][j] = left / of[j]
			case !(left > 0) || math.IsInf(left, 1):
				return nil, false
			default:
				factor[i][i] = math.Sqrt(left)
			}
		}
	}
	return factor, true
}
