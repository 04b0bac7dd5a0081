package marginal

import (
	"math"
)

// Probabilities sums up dimension-wise probability (Choi et al. 2017): how far
// the points (share real, share synthetic) are from the line y = x.
type Probabilities struct {
	MeanAbsolute, RMSE, SumOfSquares, MaxAbsolute float64
	FromDiagonal                                  float64 // mean Euclidean distance of the points from y = x
	Pearson                                       float64 // NaN where either side is constant
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
	}
	n := float64(len(p))
	d.MeanAbsolute, d.RMSE, d.Pearson = d.MeanAbsolute/n, math.Sqrt(d.SumOfSquares/n), math.NaN()
	d.FromDiagonal = d.MeanAbsolute / math.Sqrt2
	if len(p) > 1 && !constant(p) && !constant(q) {
		d.Pearson = correlation(p, q)
	}
	if len(p) == 0 {
		d.SumOfSquares, d.MaxAbsolute = math.NaN(), math.NaN()
	}
	return d
}

func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// FirstIndicator is the first category that has an indicator: a column of two
// has one, of the second.
func FirstIndicator(categories int) int {
	if categories == 2 {
		return 1
	}
	return 0
}

// correlation is Pearson's, of at least two values that are not all alike, with the sums
// of the deviations, 0 but for rounding, taken off (Chan et al. 1983, equation 1.7).
func correlation(x, y []float64) float64 {
	n := float64(len(x))
	var meanX, meanY, xx, yy, xy, dx, dy float64
	for i, v := range x {
		meanX, meanY = meanX+v/n, meanY+y[i]/n
	}
	for i, v := range x {
		a, b := v-meanX, y[i]-meanY
		xx += float64(a * a)
		yy += float64(b * b)
		xy += float64(a * b)
		dx += a
		dy += b
	}
	xx -= float64(dx*dx) / n
	yy -= float64(dy*dy) / n
	return (xy - float64(dx*dy)/n) / math.Sqrt(xx*yy)
}
