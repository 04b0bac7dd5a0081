package learn

import (
	"slices"

	"weir/train/parallel"
)

// maxBins is the number of bins a column: codes fit a byte.
const maxBins = 255

// binned holds the bin of each value, and the upper edges of bins.
type binned struct {
	codes [][]uint8
	edges [][]float64 // bin b holds values <= edges[b], the last bin the rest
}

func bin(x Matrix, workers int) *binned {
	b := &binned{make([][]uint8, len(x.Cols)), make([][]float64, len(x.Cols))}
	parallel.Do(workers, len(x.Cols), func(_, j int) {
		edges := quantileEdges(x.Cols[j])
		codes := make([]uint8, x.Rows)
		for i, v := range x.Cols[j] {
			at, _ := slices.BinarySearch(edges, v)
			codes[i] = uint8(at)
		}
		b.codes[j], b.edges[j] = codes, edges
	})
	return b
}

// quantileEdges are midpoints between distinct values, or where there are more
// than maxBins of these, the maxBins-1 inner percentiles, each the midpoint of
// its neighbours (as _BinMapper).
func quantileEdges(c []float64) []float64 {
	values := distinct(c)
	var edges []float64
	if len(values) <= maxBins {
		for i := 1; i < len(values); i++ {
			edges = append(edges, float64(values[i-1]/2)+float64(values[i]/2))
		}
		return edges
	}
	sorted := slices.Clone(c)
	slices.Sort(sorted)
	for k := 1; k < maxBins; k++ {
		at := k * (len(sorted) - 1)
		lo := at / maxBins
		hi := min(lo+min(at%maxBins, 1), len(sorted)-1)
		edges = append(edges, float64(sorted[lo]/2)+float64(sorted[hi]/2))
	}
	return slices.Compact(edges)
}
