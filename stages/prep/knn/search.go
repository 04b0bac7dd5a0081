package knn

import "math"

// neighbour is a donor and its squared distance.
type neighbour struct {
	distance float64
	row      int32
}

func (n neighbour) before(distance float64, row int32) bool {
	return n.distance < distance || n.distance == distance && n.row < row
}

// nearest holds the best k donors found so far for one column, nearest first,
// the lower row first among equals.
type nearest struct {
	column int
	k      int
	list   []neighbour
}

func (n *nearest) full() bool { return len(n.list) == n.k }

// beyond reports whether nothing at this distance, from this row on, can enter.
func (n *nearest) beyond(distance float64, row int32) bool {
	return n.full() && n.list[n.k-1].before(distance, row)
}

func (n *nearest) add(distance float64, row int32) {
	if n.beyond(distance, row) {
		return
	}
	if !n.full() {
		n.list = append(n.list, neighbour{})
	}
	i := len(n.list) - 1
	for ; i > 0 && !n.list[i-1].before(distance, row); i-- {
		n.list[i] = n.list[i-1]
	}
	n.list[i] = neighbour{distance, row}
}

// searcher looks for the donors of one row in one group after another. It is
// the scratch space of one goroutine.
type searcher struct {
	index    *Index
	point    []float64 // the receiver's scaled features, in the order of summation
	seen     []bool    // which of them it observes
	observed []int     // the same as a list
	wants    []nearest // one for each missing column
	active   []*nearest
	plain    []int // features compared with the current group, numeric ones
	coded    []int // nominal ones
	factor   float64
	group    *group
}

// visit searches a group: the donors that observe at least one wanted column
// and share at least one feature.
func (s *searcher) visit(g *group) {
	s.group, s.active, s.plain, s.coded = g, s.active[:0], s.plain[:0], s.coded[:0]
	for i := range s.wants {
		if g.mask[s.wants[i].column] == 1 {
			s.active = append(s.active, &s.wants[i])
		}
	}
	for j, c := range s.index.order {
		if !s.seen[j] || g.mask[c] == 0 {
			continue
		}
		if j < s.index.plain {
			s.plain = append(s.plain, j)
		} else {
			s.coded = append(s.coded, j)
		}
	}
	common := len(s.plain) + len(s.coded)
	if len(s.active) == 0 || common == 0 {
		return
	}
	s.factor = float64(s.index.width) / float64(common)
	s.descend(0, s.bound(0))
}

func (s *searcher) descend(n int32, bound float64) {
	at := &s.group.nodes[n]
	if s.pruned(bound, at.first) {
		return
	}
	if at.right == 0 {
		s.scan(at)
		return
	}
	near, far := n+1, at.right
	nearBound, farBound := s.bound(near), s.bound(far)
	if farBound < nearBound || farBound == nearBound && s.group.nodes[far].first < s.group.nodes[near].first {
		near, far, nearBound, farBound = far, near, farBound, nearBound
	}
	s.descend(near, nearBound)
	s.descend(far, farBound)
}

func (s *searcher) pruned(bound float64, first int32) bool {
	for _, w := range s.active {
		if !w.beyond(bound, first) {
			return false
		}
	}
	return true
}

// bound is a squared distance that no donor inside node n is below. The
// conversions keep the compiler from fusing a product into a sum, which would
// round the bound and the distance differently.
func (s *searcher) bound(n int32) float64 {
	box, sum := s.group.box(n), 0.0
	for _, j := range s.plain {
		v, d := s.point[j], 0.0
		if lo := box[2*j]; v < lo {
			d = lo - v
		} else if hi := box[2*j+1]; v > hi {
			d = v - hi
		}
		sum += float64(d * d)
	}
	for _, j := range s.coded {
		if v := s.point[j]; v < box[2*j] || v > box[2*j+1] {
			sum++
		}
	}
	return sum * s.factor
}

func (s *searcher) scan(at *node) {
	g := s.group
	for i := at.start; i < at.end; i++ {
		d := s.distance(g.points[int(i)*g.width : int(i+1)*g.width])
		for _, w := range s.active {
			w.add(d, g.rows[i])
		}
	}
}

func (s *searcher) distance(donor []float64) float64 {
	sum := 0.0
	for _, j := range s.plain {
		d := s.point[j] - donor[j]
		sum += float64(d * d)
	}
	for _, j := range s.coded {
		if s.point[j] != donor[j] {
			sum++
		}
	}
	return sum * s.factor
}

// value is the fill of one column from its donors.
func (s *searcher) value(w *nearest) float64 {
	x := s.index
	if len(w.list) == 0 {
		return x.fills[w.column]
	}
	if x.isNominal(w.column) {
		votes := map[float64]float64{}
		s.each(w, func(weight, v float64) { votes[v] += weight })
		return winner(votes)
	}
	sum, total := 0.0, 0.0
	s.each(w, func(weight, v float64) { sum, total = sum+float64(weight*v), total+weight })
	return sum / total
}

// each yields the donors' weights and values, nearest first. With weights by
// distance, donors at distance 0 share the whole weight.
func (s *searcher) each(w *nearest, yield func(weight, value float64)) {
	column, exact := s.index.data[w.column], w.list[0].distance == 0
	for _, n := range w.list {
		weight := 1.0
		if s.index.opt.ByDistance && !exact {
			weight = 1 / math.Sqrt(n.distance)
		}
		if s.index.opt.ByDistance && exact && n.distance > 0 {
			return
		}
		yield(weight, column[n.row])
	}
}
