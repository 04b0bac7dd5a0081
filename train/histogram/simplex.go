// Package histogram turns noisy histograms of one column into estimates: counts that
// are not negative, flat stretches that share their noise, a tree of finer and finer
// cells, bins of a model, and places of values inside a bin (docs/marginals.md
// section 5). It is arithmetic on released numbers: it never sees a count before its
// noise.
package histogram

import "slices"

// Simplex returns the point of {x >= 0, sum x = total} that is nearest to y in Euclidean
// distance: each y less one number, and 0 where that is negative (Held, Wolfe,
// Crowder 1974); 0 for an entry of -Inf. All are 0 where total is not positive.
func Simplex(y []float64, total float64) []float64 {
	x := make([]float64, len(y))
	if len(y) == 0 || !(total > 0) {
		return x
	}
	down := slices.Clone(y)
	slices.SortFunc(down, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	less := excess(down, total)
	for i, v := range y {
		x[i] = max(v-less, 0)
	}
	return x
}

// excess is the number by which the entries that stay positive pass total, each.
func excess(down []float64, total float64) float64 {
	sum, less := 0.0, 0.0
	for i, v := range down {
		sum += v
		if next := (sum - total) / float64(i+1); v > next {
			less = next
		}
	}
	return less
}
