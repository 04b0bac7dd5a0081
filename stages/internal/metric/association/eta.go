package association

import (
	"math"

	"weir/internal/bitmath"
)

// CorrelationRatio is eta = sqrt(SSB/SST) of numbers x grouped by codes, with
// the p-value of one-way ANOVA; rows where one is missing are left out. Both are
// NaN where x is constant or fewer than two groups occur; p also where every
// group has one row.
func CorrelationRatio(codes []int32, categories int, x []float64) (eta, p float64) {
	n, totals := make([]float64, categories), make([]float64, categories)
	var kept []float64
	for i, c := range codes {
		if c >= 0 && !math.IsNaN(x[i]) {
			n[c]++
			totals[c] += x[i]
			kept = append(kept, x[i])
		}
	}
	groups := 0.0
	for _, k := range n {
		if k > 0 {
			groups++
		}
	}
	if groups < 2 || constant(kept) {
		return math.NaN(), math.NaN()
	}
	mean := sum(kept) / float64(len(kept))
	between, within := 0.0, 0.0
	for c, k := range n {
		if k > 0 {
			d := totals[c]/k - mean
			between += float64(k * d * d)
		}
	}
	for i, c := range codes {
		if c >= 0 && !math.IsNaN(x[i]) {
			d := x[i] - totals[c]/n[c]
			within += float64(d * d)
		}
	}
	return math.Sqrt(between / (between + within)), anova(between, within, groups, float64(len(kept)))
}

func anova(between, within, groups, n float64) float64 {
	switch {
	case n <= groups:
		return math.NaN()
	case within == 0:
		return 0
	}
	f := between / (groups - 1) / (within / (n - groups))
	return bitmath.FTail(groups-1, n-groups, f)
}
