package learn

import (
	"slices"

	"weir/train/parallel"
)

// ranked holds each column as places in the list of its distinct values, so that
// trees find exact splits by counting. Columns of at most 256 values take a byte
// a row.
type ranked struct {
	values [][]float64 // distinct, ascending
	small  [][]uint8   // by column; nil where large is used
	large  [][]uint32
}

// few is how many distinct values are looked for before a column is sorted.
const few = 32

func rank(x Matrix, workers int) *ranked {
	x = x.Dense()
	p := len(x.Cols)
	r := &ranked{make([][]float64, p), make([][]uint8, p), make([][]uint32, p)}
	parallel.Do(workers, p, func(_, j int) { r.column(j, x.Cols[j]) })
	return r
}

func (r *ranked) column(j int, c []float64) {
	values := distinct(c)
	r.values[j] = values
	if len(values) <= 256 {
		r.small[j] = places[uint8](c, values)
	} else {
		r.large[j] = places[uint32](c, values)
	}
}

func distinct(c []float64) []float64 {
	var seen []float64
	for _, v := range c {
		at, found := slices.BinarySearch(seen, v)
		if !found {
			if len(seen) == few {
				all := slices.Clone(c)
				slices.Sort(all)
				return slices.Compact(all)
			}
			seen = slices.Insert(seen, at, v)
		}
	}
	return seen
}

func places[T uint8 | uint32](c, values []float64) []T {
	to := make([]T, len(c))
	for i, v := range c {
		at, _ := slices.BinarySearch(values, v)
		to[i] = T(at)
	}
	return to
}
