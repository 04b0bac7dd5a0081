package knn

import (
	"math"
	"slices"
)

// builder splits the rows of a group at medians until a leaf is small.
type builder struct {
	group *group
	index *Index
	leaf  int
}

// build makes the node of rows[start:end] and those below it.
func (b *builder) build(start, end int) int32 {
	g := b.group
	rows := g.rows[start:end]
	n := int32(len(g.nodes))
	g.nodes = append(g.nodes, node{start: int32(start), end: int32(end), first: slices.Min(rows)})
	widest := b.measure(rows)
	if len(rows) <= b.leaf {
		return n
	}
	middle := len(rows) / 2
	if widest < 0 {
		slices.Sort(rows) // equal points: the lower rows to the left, so that ties end the search
	} else {
		b.halve(rows, middle, widest)
	}
	b.build(start, start+middle)
	right := b.build(start+middle, end)
	g.nodes[n].right = right
	return n
}

// measure appends the box of rows and returns the column of greatest extent, or
// -1 where all points are equal.
func (b *builder) measure(rows []int32) int {
	x, widest, extent := b.index, -1, 0.0
	for _, c := range x.order {
		lo, hi := 0.0, 0.0
		if b.group.mask[c] == 1 {
			lo, hi = limits(x.data[c], rows)
			lo, hi = lo*x.scale(c), hi*x.scale(c)
		}
		b.group.boxes = append(b.group.boxes, lo, hi)
		if hi-lo > extent {
			widest, extent = c, hi-lo
		}
	}
	return widest
}

func limits(column []float64, rows []int32) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		v := column[r]
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi
}

// halve orders rows so that none of the first `middle` is above any other by
// the value in column c (Hoare's selection, median of three).
func (b *builder) halve(rows []int32, middle, c int) {
	column := b.index.data[c]
	lo, hi := 0, len(rows)-1
	for lo < hi {
		p := median3(column[rows[lo]], column[rows[(lo+hi)/2]], column[rows[hi]])
		i, j := lo, hi
		for i <= j {
			for column[rows[i]] < p {
				i++
			}
			for column[rows[j]] > p {
				j--
			}
			if i <= j {
				rows[i], rows[j] = rows[j], rows[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case middle <= j:
			hi = j
		case middle >= i:
			lo = i
		default:
			return
		}
	}
}

func median3(a, b, c float64) float64 {
	return math.Max(math.Min(a, b), math.Min(math.Max(a, b), c))
}
