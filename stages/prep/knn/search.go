package knn

import (
	"math"

	"weir/train/nearest"
)

// want is a missing column and its nearest donors.
type want struct {
	column int
	best   nearest.Best
}

// searcher looks for the donors of one row in one group after another. It is
// the scratch space of one goroutine.
type searcher struct {
	index    *Index
	point    []float64 // the receiver's scaled features, in the order of summation
	seen     []bool    // which of them it observes
	observed []int     // the same as a list
	wants    []want    // one for each missing column
	active   []*nearest.Best
	plain    []int // features compared with the current group, numeric ones
	coded    []int // nominal ones
	factor   float64
}

// visit searches a group: the donors that observe at least one wanted column
// and share at least one feature.
func (s *searcher) visit(g *group) {
	s.active, s.plain, s.coded = s.active[:0], s.plain[:0], s.coded[:0]
	for i := range s.wants {
		if g.mask[s.wants[i].column] == 1 {
			s.active = append(s.active, &s.wants[i].best)
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
	g.tree.Search(s, -1, s.active...)
}

// Bound is a squared distance that no donor inside a box is below. The
// conversions keep the compiler from fusing a product into a sum, which would
// round the bound and the distance differently.
func (s *searcher) Bound(box []float64) float64 {
	sum := 0.0
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

// Distance is the squared distance to a donor.
func (s *searcher) Distance(donor []float64, _ float64) float64 {
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
func (s *searcher) value(w *want) float64 {
	x := s.index
	if len(w.best.List) == 0 {
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
func (s *searcher) each(w *want, yield func(weight, value float64)) {
	column, exact := s.index.data[w.column], w.best.List[0].Distance == 0
	for _, n := range w.best.List {
		weight := 1.0
		if s.index.opt.ByDistance && !exact {
			weight = 1 / math.Sqrt(n.Distance)
		}
		if s.index.opt.ByDistance && exact && n.Distance > 0 {
			return
		}
		yield(weight, column[n.Row])
	}
}
