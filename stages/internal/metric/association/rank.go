package association

import (
	"math"
	"slices"
)

// Ordered is a column with the order of its present values, so that ranks among
// any subset of rows take one pass.
type Ordered struct {
	Values []float64
	Order  []int32 // rows that have a value, by rising value
	ranks  []float64
}

// NewOrdered sorts a column; NaN is missing.
func NewOrdered(x []float64) *Ordered {
	o := &Ordered{Values: x}
	type cell struct {
		v   float64
		row int32
	}
	cells := make([]cell, 0, len(x))
	for i, v := range x {
		if !math.IsNaN(v) {
			cells = append(cells, cell{v, int32(i)})
		}
	}
	slices.SortFunc(cells, func(a, b cell) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		}
		return int(a.row - b.row)
	})
	o.Order = make([]int32, len(cells))
	for i, c := range cells {
		o.Order[i] = c.row
	}
	o.ranks = o.among(nil)
	return o
}

// among is the average rank of every row among the rows where other is present
// (nil: all); NaN for the rest.
func (o *Ordered) among(other []float64) []float64 {
	ranks := make([]float64, len(o.Values))
	for i := range ranks {
		ranks[i] = math.NaN()
	}
	kept := o.Order
	if other != nil {
		kept = make([]int32, 0, len(o.Order))
		for _, i := range o.Order {
			if !math.IsNaN(other[i]) {
				kept = append(kept, i)
			}
		}
	}
	for lo := 0; lo < len(kept); {
		hi := lo + 1
		for hi < len(kept) && o.Values[kept[hi]] == o.Values[kept[lo]] {
			hi++
		}
		for _, i := range kept[lo:hi] {
			ranks[i] = float64(lo+hi+1) / 2
		}
		lo = hi
	}
	return ranks
}

// Spearman is the correlation of average ranks over the n rows where both
// columns have values.
func Spearman(a, b *Ordered) (r float64, n int) {
	x, y := a.ranks, b.ranks
	if len(a.Order) < len(a.Values) || len(b.Order) < len(b.Values) {
		x, y = Complete(a.among(b.Values), b.among(a.Values))
	}
	return Pearson(x, y), len(x)
}

// Complete keeps the rows where neither is missing.
func Complete(x, y []float64) (a, b []float64) {
	a, b = make([]float64, 0, len(x)), make([]float64, 0, len(y))
	for i, v := range x {
		if !math.IsNaN(v) && !math.IsNaN(y[i]) {
			a, b = append(a, v), append(b, y[i])
		}
	}
	return a, b
}
