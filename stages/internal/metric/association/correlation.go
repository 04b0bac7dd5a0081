// Package association measures how columns hang together. Definitions are those
// of testdata/golden/METRICS.md section 6; what a constant column leaves undefined is NaN,
// never 0 or 1.
package association

import (
	"math"

	"weir/internal/bitmath"
)

// Pearson is the product-moment correlation; NaN where a side is constant or
// there are fewer than two pairs.
func Pearson(x, y []float64) float64 {
	n := float64(len(x))
	if len(x) < 2 || constant(x) || constant(y) {
		return math.NaN()
	}
	mx, my := sum(x)/n, sum(y)/n
	var xx, yy, xy float64
	for i, v := range x {
		a, b := v-mx, y[i]-my
		xx, yy, xy = xx+float64(a*a), yy+float64(b*b), xy+float64(a*b)
	}
	return clip(xy / math.Sqrt(xx) / math.Sqrt(yy))
}

// CorrelationP is the two-sided p-value of a Pearson or Spearman correlation r
// of n pairs: t with n-2 degrees of freedom. Exact for Pearson on normal data,
// an approximation for Spearman.
func CorrelationP(r float64, n int) float64 {
	switch {
	case math.IsNaN(r) || n < 2:
		return math.NaN()
	case n == 2:
		return 1
	case math.Abs(r) >= 1:
		return 0
	}
	dof := float64(n - 2)
	t := math.Abs(r) * math.Sqrt(dof/((1-r)*(1+r)))
	return 2 * bitmath.StudentTail(dof, t)
}

func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

func clip(r float64) float64 { return max(-1, min(1, r)) }

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
