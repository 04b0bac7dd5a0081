// Package projection shows tables in the plane of the real table's principal
// components (testdata/golden/METRICS.md section 9).
package projection

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
	"weir/stages/internal/learn"
)

// PCA is a centred principal component analysis.
type PCA struct {
	Mean       []float64
	Components [][]float64 // each of unit length, its loading of largest absolute value positive
	Variance   []float64   // explained, with n-1
	Ratio      []float64   // of the total variance; NaN where that is 0
}

// NewPCA takes the first `components` components of a table with the given mean
// and covariance (n-1).
func NewPCA(mean []float64, covariance *mat.SymDense, components int) (*PCA, error) {
	columns := make([][]float64, covariance.SymmetricDim())
	for j := range columns {
		columns[j] = mat.Col(nil, j, covariance)
	}
	values, vectors, ok := bitmath.SymmetricEigen(columns)
	if !ok {
		return nil, errors.New("the eigenvalues of the covariance do not converge")
	}
	total := mat.Trace(covariance)
	p := &PCA{Mean: mean}
	for k := range min(components, len(values)) {
		at := len(values) - 1 - k
		p.Components = append(p.Components, upright(vectors[at]))
		v := max(0, values[at])
		p.Variance, p.Ratio = append(p.Variance, v), append(p.Ratio, v/total)
	}
	return p, nil
}

// upright gives a component the sign that makes its loading of largest absolute
// value positive, the first of equals.
func upright(c []float64) []float64 {
	at := 0
	for i, v := range c {
		// 1e-12 holds loadings equal that differ by rounding.
		if math.Abs(v) > math.Abs(c[at])*(1+1e-12) {
			at = i
		}
	}
	if c[at] < 0 {
		for i := range c {
			c[i] = -c[i]
		}
	}
	return c
}

// Project returns the coordinates of each row, one for each component.
func (p *PCA) Project(m learn.Matrix) [][]float64 {
	out := make([][]float64, m.Rows)
	for i := range out {
		out[i] = make([]float64, len(p.Components))
	}
	m = m.Dense()
	for k, c := range p.Components {
		for j, column := range m.Cols {
			for i, v := range column {
				out[i][k] += float64(c[j] * (v - p.Mean[j]))
			}
		}
	}
	return out
}

// Spread is the mean and the standard deviation (n-1) of the projection of a
// table with the given mean and covariance, for each component.
func (p *PCA) Spread(mean []float64, covariance *mat.SymDense) (at, sd []float64) {
	for _, c := range p.Components {
		variance := 0.0
		for j, w := range c {
			variance += float64(w * bitmath.Dot(c, mat.Col(nil, j, covariance)))
		}
		sd = append(sd, math.Sqrt(max(0, variance)))
		sum := 0.0
		for j, w := range c {
			sum += float64(w * (mean[j] - p.Mean[j]))
		}
		at = append(at, sum)
	}
	return at, sd
}
