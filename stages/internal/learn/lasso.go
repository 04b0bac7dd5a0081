package learn

import (
	"context"
	"math"
)

// ElasticNet minimises
//
//	|y-Xw-b|^2/(2n) + Alpha L1Ratio |w|_1 + 0.5 Alpha (1-L1Ratio) |w|^2
//
// by coordinate descent on the Gram matrix (sklearn ElasticNet; Lasso is
// L1Ratio 1) until no prediction moves: coefficients that are 0 are exactly 0.
type ElasticNet struct{ Alpha, L1Ratio float64 }

// Fit implements Regressor.
func (e ElasticNet) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	z, means, r, mean := centred(x, y)
	if len(x.Cols) == 0 {
		return withIntercept(nil, nil, mean), nil
	}
	h, g := crossMoments(z, r, run.Workers)
	p, n := len(g), float64(x.Rows)
	w, hw := make([]float64, p), make([]float64, p)
	l1, l2 := float64(n*e.Alpha*e.L1Ratio), float64(n*e.Alpha*(1-e.L1Ratio))
	scale := math.Sqrt(dot(r, r) / n)
	// Sweeps until no coefficient moves its column by 1e-11 of y's spread; the
	// bound is far above what correlated columns need.
	for range 100000 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		moved := 0.0
		for j := range w {
			a := h.At(j, j)
			if a+l2 <= 0 {
				continue
			}
			to := shrink(g[j]-hw[j]+float64(a*w[j]), l1) / (a + l2)
			if d := to - w[j]; d != 0 {
				w[j] = to
				for k := range hw {
					hw[k] += float64(d * h.At(j, k))
				}
				moved = max(moved, math.Abs(d)*math.Sqrt(a/n))
			}
		}
		if moved <= 1e-11*scale {
			break
		}
	}
	return withIntercept(w, means, mean), nil
}
