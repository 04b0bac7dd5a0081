package disclosure

import (
	"math"

	"weir/train/nearest"
)

// tree finds nearest rows of a Space.
type tree struct {
	space *Space
	tree  *nearest.Tree
}

// leafRows is the most rows of a leaf.
const leafRows = 16

// newTree indexes the points. Memory is linear in the rows.
func newTree(s *Space, p *Points) *tree {
	rows := make([]int32, p.Rows)
	for i := range rows {
		rows[i] = int32(i)
	}
	return &tree{space: s, tree: nearest.New(p.at, p.width, rows, leafRows, s.part)}
}

// Near is the two nearest rows of a query.
type Near struct {
	Row           int     // the nearest, the first of equals; -1 where there is none
	First, Second float64 // distances; +Inf where there is none
}

// NNDR is nearest over second nearest, 0 where both are 0; NaN without two rows.
func (n Near) NNDR() float64 {
	switch {
	case math.IsInf(n.Second, 1):
		return math.NaN()
	case n.Second == 0:
		return 0
	}
	return n.First / n.Second
}

// nearest finds the rows nearest to row i of q. Row `skip` of the tree is left
// out (-1: none), so that a table can be searched for its own rows.
func (t *tree) nearest(q *Points, i, skip int) Near {
	best := nearest.Best{K: 2, List: make([]nearest.Neighbour, 0, 2)}
	t.tree.Search(query{t.space, q.row(i)}, int32(skip), &best)
	n := Near{Row: -1, First: math.Inf(1), Second: math.Inf(1)}
	if len(best.List) > 0 {
		n.Row, n.First = int(best.List[0].Row), t.space.final(best.List[0].Distance)
	}
	if len(best.List) > 1 {
		n.Second = t.space.final(best.List[1].Distance)
	}
	return n
}

// query measures sums of parts, not distances, to a row.
type query struct {
	*Space
	row []float64
}

// Distance is a sum before final.
func (q query) Distance(point []float64, limit float64) float64 { return q.sum(q.row, point, limit) }

// Bound is a lower bound of the sum to any row of a box.
func (q query) Bound(box []float64) float64 {
	total := 0.0
	for j, v := range q.row {
		lo, hi := box[2*j], box[2*j+1]
		switch {
		case v >= lo && v <= hi:
			continue
		case q.nominal[j]:
			total++ // no category of the box is that of q
			continue
		}
		part := q.part(j, max(lo-v, v-hi))
		if hi > absentAt/2 {
			part = min(part, 1) // a missing value in the box counts 1
		}
		total += part
	}
	return total
}
