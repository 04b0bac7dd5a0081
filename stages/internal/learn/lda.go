package learn

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
)

// LDA is linear discriminant analysis: normal classes with one covariance, the
// within-class scatter divided by n-K (LinearDiscriminantAnalysis, solver svd)
// or by n (solver lsqr).
type LDA struct{ DivideByN bool }

// Fit implements Classifier. Directions in which the classes have no spread
// (1e-4 of the standardised within-class spread, as the svd solver) are left out.
func (l LDA) Fit(_ context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	x = x.Dense()
	mean, _ := classMoments(x, y)
	within, scales := withinScatter(x, y, mean)
	n, p := y.counts(), len(x.Cols)
	divisor := float64(x.Rows - y.Classes)
	if l.DivideByN || divisor <= 0 {
		divisor = float64(x.Rows)
	}
	inverse, err := whitener(within, divisor, run.Workers)
	if err != nil {
		return nil, err
	}
	m := &Linear{Coef: make([][]float64, y.Classes), Intercept: make([]float64, y.Classes)}
	for k := range y.Classes {
		w := make([]float64, p)
		for j := range w {
			for i := range w {
				w[j] += float64(inverse.At(j, i) / scales[j] / scales[i] * mean[k][i])
			}
		}
		m.Coef[k], m.Intercept[k] = w, float64(-0.5*dot(w, mean[k]))+bitmath.Log(float64(n[k])/float64(x.Rows))
	}
	if y.Classes > 2 {
		return &logit{*m}, nil
	}
	w := append([]float64(nil), m.Coef[1]...)
	axpy(-1, m.Coef[0], w)
	return &logit{Linear{Coef: [][]float64{w}, Intercept: []float64{m.Intercept[1] - m.Intercept[0]}}}, nil
}

// withinScatter is x less its class means, columns divided by their spread.
func withinScatter(x Matrix, y Labels, mean [][]float64) (Matrix, []float64) {
	z, scales := NewMatrix(x.Rows, len(x.Cols)), make([]float64, len(x.Cols))
	for j, c := range x.Cols {
		ss := 0.0
		for i, v := range c {
			d := v - mean[y.Y[i]][j]
			z.Cols[j][i] = d
			ss += float64(d * d)
		}
		if scales[j] = sqrt(ss / float64(x.Rows)); scales[j] == 0 {
			scales[j] = 1
		}
		for i := range c {
			z.Cols[j][i] /= scales[j]
		}
	}
	return z, scales
}

// whitener is the pseudo-inverse of z'z/divisor.
func whitener(z Matrix, divisor float64, workers int) (*mat.SymDense, error) {
	p := len(z.Cols)
	inverse := mat.NewSymDense(max(p, 1), nil)
	if p == 0 {
		return inverse, nil
	}
	_, values, right, err := singular(triangle(z.Cols, workers), p)
	if err != nil {
		return nil, err
	}
	n := float64(z.Rows)
	for k, s := range values {
		if s*s/n <= 1e-8 { // the square of sklearn's tol on singular values over root n
			continue
		}
		for i, v := range right[k] {
			bitmath.Axpy(divisor/(s*s)*v, right[k][i:], inverse.RawSymmetric().Data[i*p+i:][:p-i])
		}
	}
	return inverse, nil
}
