package learn

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
)

// centred returns x with every column centred, its means, y centred and its mean.
func centred(x Matrix, y []float64) (Matrix, []float64, []float64, float64) {
	x = x.Dense()
	z, means := NewMatrix(x.Rows, len(x.Cols)), make([]float64, len(x.Cols))
	for j, c := range x.Cols {
		means[j], _ = Moments(c)
		for i, v := range c {
			z.Cols[j][i] = v - means[j]
		}
	}
	mean, _ := Moments(y)
	r := make([]float64, len(y))
	for i, v := range y {
		r[i] = v - mean
	}
	return z, means, r, mean
}

// withIntercept is the model of coefficients on centred columns.
func withIntercept(w, means []float64, mean float64) *Linear {
	return &Linear{Coef: [][]float64{w}, Intercept: []float64{mean - dot(w, means)}}
}

// moments is Z'Z and Z'r for centred columns.
func crossMoments(z Matrix, r []float64, workers int) (*mat.SymDense, []float64) {
	full := gram(z, nil, workers)
	p := len(z.Cols)
	h, g := mat.NewSymDense(max(p, 1), nil), make([]float64, p)
	for j, c := range z.Cols {
		g[j] = dot(c, r)
		for k := j; k < p; k++ {
			h.SetSym(j, k, full.At(j, k))
		}
	}
	return h, g
}

// Ridge minimises |y-Xw-b|^2 + Alpha |w|^2 (sklearn Ridge).
type Ridge struct{ Alpha float64 }

// Fit implements Regressor.
func (a Ridge) Fit(_ context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	z, means, r, mean := centred(x, y)
	if len(x.Cols) == 0 {
		return withIntercept(nil, nil, mean), nil
	}
	h, g := crossMoments(z, r, run.Workers)
	for j := range g {
		h.SetSym(j, j, h.At(j, j)+a.Alpha)
	}
	w, err := solve(h, g)
	if err != nil {
		return nil, err
	}
	return withIntercept(w, means, mean), nil
}

// LeastSquares minimises |y-Xw-b|^2; of many minima it takes the one of least
// |w|, by the pseudo-inverse of the centred columns with singular values below
// 1e-10 of the greatest cut off (numpy.linalg.pinv, rcond 1e-10).
type LeastSquares struct{}

// Fit implements Regressor. The singular value decomposition is that of the
// triangular factor, so that memory stays that of x.
func (LeastSquares) Fit(_ context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	z, means, r, mean := centred(x, y)
	p := len(x.Cols)
	if p == 0 {
		return withIntercept(nil, nil, mean), nil
	}
	tri := triangle(append(z.Cols[:p:p], r), run.Workers)
	scaled, values, right, err := singular(tri, p)
	if err != nil {
		return nil, err
	}
	target, w := mat.Col(nil, p, tri)[:p], make([]float64, p)
	for k, s := range values {
		if s > 1e-10*slices.Max(values) {
			bitmath.Axpy(bitmath.Dot(scaled[k], target)/s/s, right[k], w)
		}
	}
	return withIntercept(w, means, mean), nil
}
