package disclosure

import (
	"math"
	"slices"
)

// Percentile is the q-th percentile of sorted values, by linear interpolation at
// place (n-1)q/100; NaN without values.
func Percentile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := float64(len(sorted)-1) * q / 100
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + float64((at-float64(low))*(sorted[high]-sorted[low]))
}

// Summary describes distances.
type Summary struct {
	P5, P25, Median, Mean, Min float64
	N                          int
}

// Summarise leaves out NaN and infinite values.
func Summarise(x []float64) Summary {
	var kept []float64
	total := 0.0
	for _, v := range x {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			kept, total = append(kept, v), total+v
		}
	}
	slices.Sort(kept)
	return Summary{Percentile(kept, 5), Percentile(kept, 25), Percentile(kept, 50), total / float64(len(kept)), Percentile(kept, 0), len(kept)}
}
