// Package detection holds what follows from a model that tells synthetic rows
// from real ones (shared/golden/METRICS.md 10).
package detection

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"weir/stages/evaluate/learn"
	"weir/stages/evaluate/metric/association"
)

// PMSE is the propensity score's mean squared error.
type PMSE struct {
	Value        float64 // mean (p_i - c)^2
	Share        float64 // c, the synthetic share of the rows
	Expected, SD float64 // of Value where both tables follow one distribution (Snoke et al. 2018)
	Ratio        float64 // Value / Expected
	Standardised float64 // (Value - Expected) / SD
}

// NewPMSE takes the fitted chances p of being synthetic of all rows, the share
// of synthetic ones, and the number of parameters of the model with intercept;
// the null moments hold for unpenalised logistic regression only. NaN where
// there are no rows; ratios are NaN for a model of the intercept alone.
func NewPMSE(p []float64, share float64, parameters int) PMSE {
	n, k := float64(len(p)), float64(parameters)
	r := PMSE{Share: share}
	for _, v := range p {
		r.Value += (v - share) * (v - share) / n
	}
	if n == 0 {
		r.Value = math.NaN()
	}
	scale := (1 - share) * (1 - share) * share / n
	r.Expected, r.SD = (k-1)*scale, math.Sqrt(2*(k-1))*scale
	r.Ratio, r.Standardised = math.NaN(), math.NaN()
	if r.Expected > 0 {
		r.Ratio, r.Standardised = r.Value/r.Expected, (r.Value-r.Expected)/r.SD
	}
	return r
}

// Rank is the number of columns of x that are not linear combinations of the
// others and a constant: eigenvalues of the correlation matrix above 1e-10 of
// their sum.
func Rank(x learn.Matrix) int {
	z, _, _ := x.Standardise()
	if z.Rows < 2 || len(z.Cols) == 0 {
		return 0
	}
	s := association.NewScatter(len(z.Cols))
	s.Add(z)
	var e mat.EigenSym
	if !e.Factorize(s.Covariance(), false) {
		return len(z.Cols)
	}
	values, total, rank := e.Values(nil), 0.0, 0
	for _, v := range values {
		total += math.Max(0, v)
	}
	for _, v := range values {
		if v > 1e-10*total {
			rank++
		}
	}
	return rank
}

// Unpenalised is the inverse penalty of logistic regression at which the
// optimum is that of maximum likelihood to ten digits, and which still has one
// where categories occur in one table only.
const Unpenalised = 1e10

// Advantage is 2|AUROC-0.5|, what a two-sample classifier gains over a guess.
func Advantage(auroc float64) float64 { return 2 * math.Abs(auroc-0.5) }
