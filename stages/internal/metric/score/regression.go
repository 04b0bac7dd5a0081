package score

import (
	"math"
	"slices"
)

// Regression holds the scores of predicted numbers.
type Regression struct {
	R2, ExplainedVariance, MSE, RMSE, MAE, MedianAbsoluteError, MaxError float64
}

// NewRegression compares predictions with the truth. R2 is 1-SSE/SST and
// ExplainedVariance 1-Var(error)/Var(y); where y is constant both are 1 for
// perfect predictions and else 0 (sklearn 1.2.1; explained variance: perfect up
// to a constant). All are NaN without rows; R2 is NaN with one row.
func NewRegression(y, predicted []float64) Regression {
	n := float64(len(y))
	if len(y) == 0 {
		v := math.NaN()
		return Regression{v, v, v, v, v, v, v}
	}
	e, abs := make([]float64, len(y)), make([]float64, len(y))
	var r Regression
	for i := range y {
		e[i] = y[i] - predicted[i]
		abs[i] = math.Abs(e[i])
		r.MSE += e[i] * e[i] / n
		r.MAE += abs[i] / n
		r.MaxError = max(r.MaxError, abs[i])
	}
	r.RMSE = math.Sqrt(r.MSE)
	r.MedianAbsoluteError = median(abs)
	r.R2 = explained(r.MSE, variance(y))
	r.ExplainedVariance = explained(variance(e), variance(y))
	if len(y) < 2 {
		r.R2 = math.NaN()
	}
	return r
}

func explained(left, all float64) float64 {
	switch {
	case all != 0:
		return 1 - left/all
	case left == 0:
		return 1
	}
	return 0
}

func variance(x []float64) float64 {
	mean, ss, n := 0.0, 0.0, float64(len(x))
	for _, v := range x {
		mean += v
	}
	mean /= n
	for _, v := range x {
		ss += (v - mean) * (v - mean) / n
	}
	return ss
}

func median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	h := len(s) / 2
	if len(s)%2 == 1 {
		return s[h]
	}
	return (s[h-1] + s[h]) / 2
}
