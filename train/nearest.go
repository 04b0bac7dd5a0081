package train

import (
	"math"
	"slices"
)

// NearestTree is a k-d tree of rows, which finds the points nearest to another under any distance that can be bounded
// from below over a box. It is one tree for all who ask: what it finds is what a full scan finds, bit for bit, whatever
// the shape of the tree.
type NearestTree struct {
	width  int
	rows   []int32   // in tree order
	points []float64 // in tree order, width numbers a row
	nodes  []treeNode
	boxes  []float64 // 2*width numbers a node: least and greatest value of each column in turn
}

// treeNode covers rows[start:end]; a leaf has no right child. The left child of
// node i is node i+1.
type treeNode struct {
	start, end, right int32
	first             int32 // the lowest row inside
}

func (t *NearestTree) box(n int32) []float64 {
	return t.boxes[int(n)*2*t.width : int(n+1)*2*t.width]
}

// NearestQuery is a distance to one point. The rounding of Bound must not put it above
// Distance: both sum in one order, by operations that are monotone when rounded.
type NearestQuery interface {
	// Bound is a number that no Distance is below of a point whose column j is from
	// box[2*j] to box[2*j+1].
	Bound(box []float64) float64
	// Distance may be any number above limit where the distance is above it.
	Distance(point []float64, limit float64) float64
}

// Search offers to each list every row that can enter it, but for the row skip
// (-1: none). The lists share the query: they may differ in what they hold already.
func (t *NearestTree) Search(q NearestQuery, skip int32, lists ...*NearestRows) {
	if len(t.nodes) > 0 {
		s := treeSearch{t, q, skip, lists}
		s.descend(0, q.Bound(t.box(0)))
	}
}

type treeSearch struct {
	*NearestTree
	query NearestQuery
	skip  int32
	lists []*NearestRows
}

func (s *treeSearch) descend(n int32, bound float64) {
	place := &s.nodes[n]
	if s.pruned(bound, place.first) {
		return
	}
	if place.right == 0 {
		s.scan(place)
		return
	}
	near, far := n+1, place.right
	nearBound, farBound := s.query.Bound(s.box(near)), s.query.Bound(s.box(far))
	if farBound < nearBound || farBound == nearBound && s.nodes[far].first < s.nodes[near].first {
		near, far, nearBound, farBound = far, near, farBound, nearBound
	}
	s.descend(near, nearBound)
	s.descend(far, farBound)
}

func (s *treeSearch) pruned(bound float64, first int32) bool {
	for _, b := range s.lists {
		if !b.isBeyond(bound, first) {
			return false
		}
	}
	return true
}

func (s *treeSearch) scan(place *treeNode) {
	limit := 0.0
	for _, b := range s.lists {
		limit = max(limit, b.Limit())
	}
	for i := place.start; i < place.end; i++ {
		if s.rows[i] == s.skip {
			continue
		}
		d := s.query.Distance(s.points[int(i)*s.width:int(i+1)*s.width], limit)
		for _, b := range s.lists {
			b.Offer(d, s.rows[i])
		}
	}
}

// treeBuilder splits rows between two values of their widest column until a leaf is
// small.
type treeBuilder struct {
	tree   *NearestTree
	points []float64 // in the order of rows
	order  []int32   // places of rows, in tree order when done
	leaf   int
	extent func(column int, gap float64) float64
}

// NewNearestTree indexes rows, which are ascending; points holds their columns, one row after
// the other. A leaf holds at most leaf rows. A node is split at the column with the greatest
// extent(column, gap), where gap is the distance between its least and greatest value; a column
// whose extent is NaN is never split. Memory is a copy of the points and two numbers a column
// for each node.
func NewNearestTree(points []float64, width int, rows []int32, leaf int,
	extent func(column int, gap float64) float64) *NearestTree {
	b := &treeBuilder{tree: &NearestTree{width: width}, points: points, order: make([]int32, len(rows)), leaf: leaf,
		extent: extent}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	if len(rows) > 0 {
		b.build(0, int32(len(rows)))
	}
	t := b.tree
	t.rows, t.points = make([]int32, len(rows)), make([]float64, 0, len(points))
	for i, place := range b.order {
		t.rows[i], t.points = rows[place], append(t.points, b.row(place)...)
	}
	for i := range t.nodes {
		t.nodes[i].first = rows[t.nodes[i].first]
	}
	return t
}

func (b *treeBuilder) row(place int32) []float64 {
	w := b.tree.width
	return b.points[int(place)*w : int(place+1)*w]
}

// build makes the node of order[start:end] and those below it.
func (b *treeBuilder) build(start, end int32) {
	t, part := b.tree, b.order[start:end]
	n := len(t.nodes)
	t.nodes = append(t.nodes, treeNode{start: start, end: end, first: slices.Min(part)})
	widest := b.measure(part)
	if len(part) <= b.leaf {
		return
	}
	middle := start + int32(len(part)/2)
	if widest < 0 {
		slices.Sort(part) // equal points: the lower rows to the left, so that ties end the search
	} else {
		middle = start + b.halve(part, widest)
	}
	b.build(start, middle)
	t.nodes[n].right = int32(len(t.nodes))
	b.build(middle, end)
}

// measure appends the box of a part and returns its widest column, or -1 where all
// points are equal.
func (b *treeBuilder) measure(part []int32) int {
	t, start := b.tree, len(b.tree.boxes)
	for _, v := range b.row(part[0]) {
		t.boxes = append(t.boxes, v, v)
	}
	box := t.boxes[start:]
	for _, place := range part[1:] {
		for j, v := range b.row(place) {
			if v < box[2*j] {
				box[2*j] = v
			}
			if v > box[2*j+1] {
				box[2*j+1] = v
			}
		}
	}
	widest, most := -1, 0.0
	for j := range t.width {
		if w := b.extent(j, box[2*j+1]-box[2*j]); w > most {
			widest, most = j, w
		}
	}
	return widest
}

// halve puts places with small values of a column first and returns where the
// others start: near the middle of a sample, between two different values. The
// column has two different values.
func (b *treeBuilder) halve(part []int32, column int) int32 {
	pivot := b.median(part, column)
	if cut := b.partition(part, column, func(v float64) bool { return v < pivot }); cut > 0 {
		return cut
	}
	return b.partition(part, column, func(v float64) bool { return v <= pivot })
}

// sampledRows is the number of rows whose median splits a node.
const sampledRows = 31

func (b *treeBuilder) median(part []int32, column int) float64 {
	var values [sampledRows]float64
	for k := range values {
		values[k] = b.row(part[k*len(part)/sampledRows])[column]
	}
	slices.Sort(values[:])
	return values[sampledRows/2]
}

// partition puts the places whose value is low first and counts them.
func (b *treeBuilder) partition(part []int32, column int, low func(float64) bool) int32 {
	n := int32(0)
	for k, place := range part {
		if low(b.row(place)[column]) {
			part[n], part[k] = part[k], part[n]
			n++
		}
	}
	return n
}

// Neighbour is a row and its distance.
type Neighbour struct {
	Distance float64
	Row      int32
}

func (n Neighbour) before(distance float64, row int32) bool {
	return n.Distance < distance || n.Distance == distance && n.Row < row
}

// NearestRows holds the K nearest rows of those offered, nearest first, the lower row
// first among equals.
type NearestRows struct {
	K    int
	List []Neighbour
}

func (b *NearestRows) full() bool { return len(b.List) == b.K }

// Limit returns the greatest distance at which a row can still enter.
func (b *NearestRows) Limit() float64 {
	if !b.full() {
		return math.Inf(1)
	}
	return b.List[b.K-1].Distance
}

// isBeyond reports whether nothing at this distance, from this row on, can enter.
func (b *NearestRows) isBeyond(distance float64, row int32) bool {
	return b.full() && b.List[b.K-1].before(distance, row)
}

// Offer lets a row enter where it belongs.
func (b *NearestRows) Offer(distance float64, row int32) {
	if b.isBeyond(distance, row) {
		return
	}
	if !b.full() {
		b.List = append(b.List, Neighbour{})
	}
	i := len(b.List) - 1
	for ; i > 0 && !b.List[i-1].before(distance, row); i-- {
		b.List[i] = b.List[i-1]
	}
	b.List[i] = Neighbour{distance, row}
}
