package metric

import (
	"math"

	"weir/stages/internal/learn"
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

// IndependentPMSERatio returns the mean of PMSE.Ratio, for many rows, where the real rows
// too are a fresh sample. Snoke et al. take the real rows as given and the
// synthetic ones as drawn from a model fitted to them, so that only these vary;
// rows that the model never saw add their own variance, which makes the
// expectation (k-1)(1-c)c/N, that is 1/(1-c) times theirs.
func IndependentPMSERatio(share float64) float64 { return 1 / (1 - share) }

// IndependentColumns lists the columns of x that are not a linear combination of those
// before them and a constant: a Cholesky factor of the correlation matrix, by
// rows, that leaves out columns of which less than 1e-8 of the variance is left.
func IndependentColumns(x learn.Matrix) (retained []int) {
	z, _, _ := x.Standardise()
	if z.Rows < 2 || len(z.Cols) == 0 {
		return nil
	}
	s := NewScatter(len(z.Cols))
	s.Add(z)
	c := s.Covariance()
	var factor [][]float64
	for j := range z.Cols {
		row, left := make([]float64, len(retained)+1), c.At(j, j)
		for i, k := range retained {
			v := c.At(j, k)
			for m := range i {
				v -= float64(row[m] * factor[i][m])
			}
			row[i] = v / factor[i][i]
			left -= float64(row[i] * row[i])
		}
		if left > 1e-8 {
			row[len(retained)] = math.Sqrt(left)
			retained, factor = append(retained, j), append(factor, row)
		}
	}
	return retained
}

// UnpenalisedPenalty is the inverse penalty of logistic regression at which the
// optimum equals the optimum of maximum likelihood to ten digits, and which still has one
// where categories occur in one table only.
const UnpenalisedPenalty = 1e10

// Advantage returns 2|AUROC-0.5|, what a two-sample classifier gains over a guess.
func Advantage(auroc float64) float64 { return 2 * math.Abs(auroc-0.5) }
