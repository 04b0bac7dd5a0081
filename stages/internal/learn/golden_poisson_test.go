package learn

import (
	"context"
	"math"

	"weir/internal/bitmath"
)

// PoissonL2 minimises mean half deviance + 0.5 Alpha |w|^2 with log link
// (sklearn PoissonRegressor) by Newton's method, of which golden cases are kept; it is not the GLM of
// FitGLM, and no kind has it.
type PoissonL2 struct{ Alpha float64 }

// Fit implements Regressor.
func (a PoissonL2) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	p, n := len(x.Cols), float64(x.Rows)
	theta := make([]float64, p+1)
	mean, _ := Moments(y)
	if !(mean > 0) {
		return nil, &NotEstimable{-1, "every count is 0, so the log of the rate is minus infinity"}
	}
	theta[p] = bitmath.Log(mean)
	model := func() *Linear { return &Linear{Coef: [][]float64{theta[:p]}, Intercept: theta[p:]} }
	value := math.Inf(1)
	for range maxNewton {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mu := model().Predict(x)
		r, current := make([]float64, len(mu)), float64(a.Alpha/2*dot(theta[:p], theta[:p]))
		for i, eta := range mu {
			mu[i] = bitmath.Exp(eta)
			r[i] = (mu[i] - y[i]) / n
			current += (mu[i] - float64(y[i]*eta)) / n
			mu[i] /= n
		}
		h, g := gram(x, mu, run.Workers), make([]float64, p+1)
		x.dots(r, g)
		for j := range p {
			g[j] = -g[j] - float64(a.Alpha*theta[j])
			h.SetSym(j, j, h.At(j, j)+a.Alpha)
		}
		g[p] = -dot(ones(len(r)), r)
		d, err := solve(h, g)
		if err != nil {
			return nil, err
		}
		// The objective is convex but not bounded above in its curvature: a step
		// of more than 1 in the linear predictor's scale is halved.
		axpy(min(1, 1/normInf(d)), d, theta)
		if small(d, theta) && current <= value+1e-9 {
			return &rate{*model()}, nil
		}
		value = current
	}
	return nil, &NotEstimable{-1, "the penalised Poisson regression did not converge"}
}

// rate predicts exp of the linear predictor.
type rate struct{ Linear }

func (r *rate) Predict(x Matrix) []float64 {
	mu := r.Linear.Predict(x)
	for i, v := range mu {
		mu[i] = bitmath.Exp(v)
	}
	return mu
}
