package latent

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/privacy/mechanism"
	"weir/train/parallel"
)

// moments are the sufficient statistics of all labels together: for each label and
// component the sum of its responsibilities, of these times the code, and of these
// times the products of the code's coordinates.
//
// Input: n rows, each a code x clipped to norm Radius and a label; mixtures of public
// history. With u = x/Radius and responsibilities r >= 0 that add up to one, a row
// adds r_k (1, u, u u') to component k of its own label, the products above the
// diagonal times sqrt 2, so that they are as long as the whole matrix; all else of
// the vector is 0.
//
// Sensitivity, in L2: sqrt 3 under add_remove, for the square of what a row adds is
// sum r_k^2 (1 + |u|^2 + |u|^4) <= 3. sqrt 6 under replace_one: two rows of different
// labels add to different coordinates; two of one label have the inner product
// sum r_k s_k (1 + c + c^2) with c = u.v, and 1 + c + c^2 >= 3/4, so it is not negative
// either, and the square of their difference is at most the sum of their squares.
//
// Each number that a row adds is rounded to a multiple of 1/unit, 2^-24 unless noise is
// so large that its integers would be out of reach, and added as an
// integer, which is exact: sums depend on no order and no other row. Rounding moves
// what a row adds by at most half of that times sqrt(m), m numbers of one label, which
// Moves adds.
type moments struct {
	Labels, Components, Dim int
	Radius                  float64
	unit                    float64 // of the integers: a row counts as so many; newMixtureFit sets it
}

const (
	finest     = 0x1p24
	coarsest   = 0x1p10
	slack      = 1 + 0x1p-40
	momentRows = 512 // a piece of parallel work
)

// each returns how many numbers one component has; size returns how many all have.
func (m moments) each() int { return 1 + m.Dim + m.Dim*(m.Dim+1)/2 }
func (m moments) size() int { return m.Labels * m.Components * m.each() }

// Moves returns the sensitivity of the integers.
func (m moments) Moves() mechanism.Moves {
	rounding := math.Sqrt(float64(m.Components * m.each()))
	one := float64(math.Sqrt(3)*m.unit*slack) + float64(rounding/2)
	return mechanism.Moves{AddRemove: one, ReplaceOne: float64(math.Sqrt2*one*slack) + rounding}
}

// sums adds up what all rows add, under the given mixtures.
func (m moments) sums(x labelledCodes, items []codeMixture) []int64 {
	pieces := (len(x.Labels) + momentRows - 1) / momentRows
	workers := parallel.Workers(pieces)
	sums := make([][]int64, workers)
	for i := range sums {
		sums[i] = make([]int64, m.size())
	}
	parallel.Do(workers, pieces, func(worker, piece int) {
		w := m.newRow()
		for i := piece * momentRows; i < min((piece+1)*momentRows, len(x.Labels)); i++ {
			w.add(sums[worker], x.row(i), int(x.Labels[i]), items)
		}
	})
	for _, other := range sums[1:] {
		for i, v := range other {
			sums[0][i] += v
		}
	}
	return sums[0]
}

// momentRow works out what one row adds.
type momentRow struct {
	moments
	x, u, y, share []float64
}

func (m moments) newRow() *momentRow {
	return &momentRow{m, make([]float64, m.Dim), make([]float64, m.Dim), make([]float64, m.Dim),
		make([]float64, m.Components)}
}

func (w *momentRow) add(sum []int64, code []float32, label int, items []codeMixture) {
	w.clip(code)
	share := w.share[:len(items[label].Components)]
	responsibilities(items[label].Components, share, w.x, w.y)
	block := sum[label*w.Components*w.each():]
	for k, r := range share {
		dst := block[k*w.each():][:w.each()]
		dst[0] += w.fixed(r)
		pos := 1
		for i, u := range w.u {
			dst[pos] += w.fixed(r * u)
			pos++
			dst[pos] += w.fixed(r * u * u)
			pos++
			for _, v := range w.u[:i] {
				dst[pos] += w.fixed(r * u * v * math.Sqrt2)
				pos++
			}
		}
	}
}

// clip sets x to the code, no longer than Radius, and u to it over Radius. A code
// that is not finite counts as 0.
func (w *momentRow) clip(code []float32) {
	square := 0.0
	for j, v := range code {
		w.x[j] = float64(v)
		square += float64(w.x[j] * w.x[j])
	}
	factor := 1.0
	switch norm := math.Sqrt(square); {
	case !(norm <= 1e30):
		factor = 0
	case norm > w.Radius:
		factor = w.Radius / norm
	}
	for j := range w.x {
		if factor == 0 {
			w.x[j] = 0
		}
		w.x[j] *= factor
		w.u[j] = w.x[j] / w.Radius
	}
}

func (w *momentRow) fixed(v float64) int64 { return int64(math.RoundToEven(v * w.unit)) }

// responsibilities sets share to the probability of each component given x; y is
// working memory. Where no density is a number it is the weights.
func responsibilities(items []gaussian, share, x, y []float64) {
	top := math.Inf(-1)
	for k := range items {
		share[k] = math.Inf(-1)
		if items[k].Weight > 0 {
			share[k] = items[k].density(x, y)
		}
		top = math.Max(top, share[k])
	}
	total := 0.0
	for k := range share {
		share[k] = bitmath.Exp(share[k] - top)
		total += share[k]
	}
	for k := range items {
		if total-total != 0 {
			share[k] = items[k].Weight
			continue
		}
		share[k] /= total
	}
}

// gaussian is one component: its share of the mixture, a mean, and the lower triangular
// factor of its covariance, Factor times its transpose; row i has i+1 numbers.
type gaussian struct {
	Weight float64
	Mean   []float64
	Factor [][]float64
}

// codeMixture is the components of one label and the label's share of all rows.
type codeMixture struct {
	Share      float64
	Components []gaussian
}

// density returns the logarithm of weight times density at x, less dim/2 ln 2 pi; y is working
// memory.
func (g *gaussian) density(x, y []float64) float64 {
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
func (g *gaussian) draw(x []float64, r *rand.Rand) {
	z := make([]float64, len(x))
	for i, row := range g.Factor {
		z[i] = bitmath.Normal(r)
		x[i] = g.Mean[i]
		for j, f := range row {
			x[i] += float64(f * z[j])
		}
	}
}

// factored returns the Cholesky factor of a symmetric matrix; false where it is not positive.
func factored(m [][]float64) (factor [][]float64, ok bool) {
	for i, row := range m {
		factor = append(factor, make([]float64, i+1))
		for j, items := range factor {
			left := row[j]
			for k := range j {
				left -= float64(factor[i][k] * items[k])
			}
			switch {
			case j < i:
				factor[i][j] = left / items[j]
			case !(left > 0) || math.IsInf(left, 1):
				return nil, false
			default:
				factor[i][i] = math.Sqrt(left)
			}
		}
	}
	return factor, true
}
