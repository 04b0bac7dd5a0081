// Package nearest finds the points nearest to another, under any distance that can
// be bounded from below over a box. It is one k-d tree for all who ask: what it
// finds is what a full scan finds, bit for bit, whatever the shape of the tree.
package nearest

// Tree is a k-d tree of rows.
type Tree struct {
	width  int
	rows   []int32   // in tree order
	points []float64 // in tree order, width numbers a row
	nodes  []node
	boxes  []float64 // 2*width numbers a node: least and greatest value of each column in turn
}

// node covers rows[start:end]; a leaf has no right child. The left child of
// node i is node i+1.
type node struct {
	start, end, right int32
	first             int32 // the lowest row inside
}

func (t *Tree) box(n int32) []float64 {
	return t.boxes[int(n)*2*t.width : int(n+1)*2*t.width]
}

// Query is a distance to one point. The rounding of Bound must not put it above
// Distance: both sum in one order, by operations that are monotone when rounded.
type Query interface {
	// Bound is a number that no Distance is below of a point whose column j is from
	// box[2*j] to box[2*j+1].
	Bound(box []float64) float64
	// Distance may be any number above limit where the distance is above it.
	Distance(point []float64, limit float64) float64
}

// Search offers to each list every row that can enter it, but for the row skip
// (-1: none). The lists share the query: they may differ in what they hold already.
func (t *Tree) Search(q Query, skip int32, lists ...*Best) {
	if len(t.nodes) > 0 {
		s := search{t, q, skip, lists}
		s.descend(0, q.Bound(t.box(0)))
	}
}

type search struct {
	*Tree
	query Query
	skip  int32
	lists []*Best
}

func (s *search) descend(n int32, bound float64) {
	at := &s.nodes[n]
	if s.pruned(bound, at.first) {
		return
	}
	if at.right == 0 {
		s.scan(at)
		return
	}
	near, far := n+1, at.right
	nearBound, farBound := s.query.Bound(s.box(near)), s.query.Bound(s.box(far))
	if farBound < nearBound || farBound == nearBound && s.nodes[far].first < s.nodes[near].first {
		near, far, nearBound, farBound = far, near, farBound, nearBound
	}
	s.descend(near, nearBound)
	s.descend(far, farBound)
}

func (s *search) pruned(bound float64, first int32) bool {
	for _, b := range s.lists {
		if !b.beyond(bound, first) {
			return false
		}
	}
	return true
}

func (s *search) scan(at *node) {
	limit := 0.0
	for _, b := range s.lists {
		limit = max(limit, b.Limit())
	}
	for i := at.start; i < at.end; i++ {
		if s.rows[i] == s.skip {
			continue
		}
		d := s.query.Distance(s.points[int(i)*s.width:int(i+1)*s.width], limit)
		for _, b := range s.lists {
			b.Offer(d, s.rows[i])
		}
	}
}
