package prep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// uniformEdges are the bins+1 edges of equal bins from lower to upper.
func uniformEdges(lower, upper float64, bins int) []float64 {
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = lower + float64(float64(i)*((upper-lower)/float64(bins)))
	}
	edges[bins] = upper
	return edges
}

// quantileEdges are the quantiles 0, 1/bins .. 1 of values (linear
// interpolation between order statistics, as NumPy does); equal neighbours
// collapse, so there may be fewer bins. Values are sorted in place.
func quantileEdges(values []float64, bins int) []float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	edges := make([]float64, bins+1)
	for i := range edges {
		at := float64(float64(i) / float64(bins) * float64(len(values)-1))
		low := min(int(at), len(values)-1)
		high := min(low+1, len(values)-1)
		edges[i] = values[low] + float64((at-float64(low))*(values[high]-values[low]))
	}
	return slices.Compact(edges)
}

// bin is the number of inner edges at or below x: bins are right-open, the last
// one closed, and values outside belong to the end bins (testdata/golden/METRICS.md section 3).
func bin(edges []float64, x float64) int32 {
	if len(edges) < 3 {
		return 0
	}
	inner := edges[1 : len(edges)-1]
	at, exact := slices.BinarySearch(inner, x)
	if exact {
		at++
	}
	return int32(at)
}

// within is the value at share u of bin i.
func within(edges []float64, i int32, u float64) float64 {
	if len(edges) < 2 {
		return math.NaN()
	}
	i = min(max(i, 0), int32(len(edges)-2))
	return edges[i] + float64(u*(edges[i+1]-edges[i]))
}

// binNames spells bins as half-open intervals.
func binNames(edges []float64) []string {
	names := make([]string, max(1, len(edges)-1))
	for i := range names {
		closing := ")"
		if i == len(names)-1 {
			closing = "]"
		}
		names[i] = "[" + short(edges[i]) + ", " + short(edges[i+1]) + closing
	}
	return names
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// rankNames names bins whose edges are not public.
func rankNames(bins int) []string {
	names := make([]string, bins)
	for i := range names {
		names[i] = fmt.Sprintf("bin %d", i+1)
	}
	return names
}
