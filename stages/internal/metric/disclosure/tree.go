package disclosure

import (
	"math"
	"slices"
)

// tree finds nearest rows: a k-d tree whose boxes bound numbers by their
// extremes and categories by whether the box holds a single one.
type tree struct {
	space  *Space
	points *Points
	order  []int32
	nodes  []node
}

type node struct {
	lo, hi      []float64 // of each column
	start, end  int32     // places of order
	left, right int32     // nodes; 0: a leaf
}

// leafRows is the most rows of a leaf.
const leafRows = 16

// newTree indexes the points. Memory is linear in the rows.
func newTree(s *Space, p *Points) *tree {
	t := &tree{space: s, points: p, order: make([]int32, p.Rows)}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	if p.Rows > 0 {
		t.build(0, int32(p.Rows))
	}
	return t
}

func (t *tree) build(start, end int32) int32 {
	at := int32(len(t.nodes))
	lo, hi := t.box(start, end)
	t.nodes = append(t.nodes, node{lo: lo, hi: hi, start: start, end: end})
	if end-start <= leafRows {
		return at
	}
	column := t.widest(lo, hi)
	if column < 0 {
		return at
	}
	middle := t.halve(start, end, column)
	left := t.build(start, middle)
	right := t.build(middle, end)
	t.nodes[at].left, t.nodes[at].right = left, right
	return at
}

func (t *tree) box(start, end int32) (lo, hi []float64) {
	box := make([]float64, 2*t.points.width)
	lo, hi = box[:t.points.width], box[t.points.width:]
	copy(lo, t.points.row(int(t.order[start])))
	copy(hi, lo)
	for _, i := range t.order[start+1 : end] {
		for j, v := range t.points.row(int(i)) {
			lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
		}
	}
	return lo, hi
}

// widest is the column whose values are farthest apart, -1 where all are equal.
func (t *tree) widest(lo, hi []float64) int {
	best, width := -1, 0.0
	for j := range lo {
		if w := t.space.part(j, hi[j]-lo[j]); w > width {
			best, width = j, w
		}
	}
	return best
}

// halve puts rows with small values of a column first and returns where the
// others start: near the middle of a sample, between two different values. The
// column has two different values.
func (t *tree) halve(start, end int32, column int) int32 {
	rows := t.order[start:end]
	pivot := t.median(rows, column)
	if cut := t.partition(rows, func(v float64) bool { return v < pivot }, column); cut > 0 {
		return start + int32(cut)
	}
	return start + int32(t.partition(rows, func(v float64) bool { return v <= pivot }, column))
}

// sampledRows is the number of rows whose median splits a node.
const sampledRows = 31

func (t *tree) median(rows []int32, column int) float64 {
	var values []float64
	for k := range sampledRows {
		values = append(values, t.points.at[int(rows[k*len(rows)/sampledRows])*t.points.width+column])
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// partition puts the rows whose value is low first and counts them.
func (t *tree) partition(rows []int32, low func(float64) bool, column int) int {
	n := 0
	for k, i := range rows {
		if low(t.points.at[int(i)*t.points.width+column]) {
			rows[n], rows[k] = rows[k], rows[n]
			n++
		}
	}
	return n
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
	s := search{tree: t, q: q.row(i), skip: int32(skip), best: Near{Row: -1, First: math.Inf(1), Second: math.Inf(1)}}
	if len(t.nodes) > 0 {
		s.visit(0, 0)
	}
	n := s.best
	n.First, n.Second = t.space.final(n.First), t.space.final(n.Second)
	return n
}

type search struct {
	tree *tree
	q    []float64
	skip int32
	best Near // sums, not distances
}

func (s *search) visit(at int32, bound float64) {
	n := &s.tree.nodes[at]
	// Equal bounds are searched on, so that the first of equal rows is found.
	if bound > s.best.Second {
		return
	}
	if n.left == 0 {
		for _, i := range s.tree.order[n.start:n.end] {
			s.offer(i)
		}
		return
	}
	l, r := s.bound(n.left), s.bound(n.right)
	if l <= r {
		s.visit(n.left, l)
		s.visit(n.right, r)
		return
	}
	s.visit(n.right, r)
	s.visit(n.left, l)
}

// bound is a lower bound of the sum to any row of a node.
func (s *search) bound(at int32) float64 {
	n, total := &s.tree.nodes[at], 0.0
	for j, v := range s.q {
		lo, hi := n.lo[j], n.hi[j]
		switch {
		case v >= lo && v <= hi && (lo < hi || v == lo):
			continue
		case s.tree.space.nominal[j] && lo < hi:
			if v < lo || v > hi {
				total++ // no category of the box is that of q
			}
			continue
		}
		gap := max(lo-v, v-hi)
		part := s.tree.space.part(j, gap)
		if hi > absentAt/2 {
			part = min(part, 1) // a missing value in the box counts 1
		}
		total += part
	}
	return total
}

func (s *search) offer(i int32) {
	if i == s.skip {
		return
	}
	d := s.tree.space.sum(s.q, s.tree.points.row(int(i)), s.best.Second)
	b := &s.best
	switch {
	case d < b.First || d == b.First && (b.Row < 0 || int(i) < b.Row):
		b.Row, b.First, b.Second = int(i), d, b.First
	case d < b.Second:
		b.Second = d
	}
}
