package knn

import (
	"math"

	"weir/train/nearest"
)

// pattern is the set of donors that observe the same columns.
type pattern struct {
	mask string // one byte a column: 1 where it is observed
	rows []int32
}

// byPattern splits rows by their missing values, in order of first appearance.
func (x *Index) byPattern(rows []int32) []*pattern {
	found := map[string]*pattern{}
	var list []*pattern
	mask := make([]byte, len(x.data))
	for _, r := range rows {
		for c := range x.data {
			mask[c] = 1
			if math.IsNaN(x.data[c][r]) {
				mask[c] = 0
			}
		}
		g := found[string(mask)]
		if g == nil {
			g = &pattern{mask: string(mask)}
			found[g.mask] = g
			list = append(list, g)
		}
		g.rows = append(g.rows, r)
	}
	return list
}

// group is the tree of one pattern.
type group struct {
	mask string
	tree *nearest.Tree
}

func (x *Index) plant(p *pattern) *group {
	gap := func(_ int, gap float64) float64 { return gap }
	return &group{p.mask, nearest.New(x.gather(p.rows), x.width, p.rows, x.opt.LeafRows, gap)}
}

// gather lists the scaled features of rows, NaN where missing, in the order of
// summation.
func (x *Index) gather(rows []int32) []float64 {
	points := make([]float64, len(rows)*x.width)
	for j, c := range x.order {
		column, scale := x.data[c], x.scale(c)
		for i, r := range rows {
			points[i*x.width+j] = column[r] * scale
		}
	}
	return points
}
