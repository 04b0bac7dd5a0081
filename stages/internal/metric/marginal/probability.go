package marginal

import (
	"math"

	"weir/stages/internal/metric/association"
)

// Probability is the title of the scatter of dimension-wise probability.
const Probability = "probability"

// Probabilities sums up dimension-wise probability (Choi et al. 2017): how far
// the points (share real, share synthetic) are from the line y = x.
type Probabilities struct {
	MeanAbsolute, RMSE, SumOfSquares, MaxAbsolute float64
	FromDiagonal                                  float64 // mean Euclidean distance of the points from y = x
	Pearson                                       float64 // NaN where either side is constant
	Absent, AbsentOther                           float64 // indicators that no row has, of p and of q
}

// CompareProbabilities compares the shares of each indicator; all are NaN where
// there are none.
func CompareProbabilities(p, q []float64) Probabilities {
	var d Probabilities
	for i, a := range p {
		gap := math.Abs(a - q[i])
		d.MeanAbsolute += gap
		d.SumOfSquares += float64(gap * gap)
		d.MaxAbsolute = max(d.MaxAbsolute, gap)
		if a == 0 {
			d.Absent++
		}
		if q[i] == 0 {
			d.AbsentOther++
		}
	}
	n := float64(len(p))
	d.MeanAbsolute, d.RMSE, d.Pearson = d.MeanAbsolute/n, math.Sqrt(d.SumOfSquares/n), association.Pearson(p, q)
	d.FromDiagonal = d.MeanAbsolute / math.Sqrt2
	if len(p) == 0 {
		d.SumOfSquares, d.MaxAbsolute, d.Absent, d.AbsentOther = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	}
	return d
}

// FirstIndicator is the first category that has an indicator: a column of two
// has one, of the second.
func FirstIndicator(categories int) int {
	if categories == 2 {
		return 1
	}
	return 0
}
