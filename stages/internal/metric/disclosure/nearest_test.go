package disclosure

import (
	"math"
	"testing"
)

// fullScan is Nearest by definition.
func fullScan(s *Space, q *Points, i int, p *Points, skip int) Near {
	n := Near{Row: -1, First: math.Inf(1), Second: math.Inf(1)}
	for k := range p.Rows {
		if k == skip {
			continue
		}
		d := s.final(s.sum(q.row(i), p.row(k), math.Inf(1)))
		switch {
		case d < n.First:
			n.Row, n.First, n.Second = k, d, n.First
		case d < n.Second:
			n.Second = d
		}
	}
	return n
}

func TestTreeIsFullScan(t *testing.T) {
	for _, missing := range []float64{0, 0.2, 1} {
		for _, shape := range [][2]int{{3, 0}, {0, 4}, {2, 3}, {1, 1}} {
			for _, metric := range []Metric{EuclideanMixed, Gower} {
				from, to := scattered(1, 60, shape[0], shape[1], missing), scattered(2, 400, shape[0], shape[1], missing)
				s := NewSpace(metric, to)
				q, p := s.Points(from), s.Points(to)
				tree := newTree(s, p)
				for i := range from.Rows {
					if got, want := tree.nearest(q, i, -1), fullScan(s, q, i, p, -1); got != want {
						t.Fatalf("%v, missing %v, row %d: nearest %+v, full scan %+v", shape, missing, i, got, want)
					}
				}
				for i := range 50 {
					if got, want := tree.nearest(p, i, i), fullScan(s, p, i, p, i); got != want {
						t.Fatalf("%v, missing %v, own row %d: nearest %+v, full scan %+v", shape, missing, i, got, want)
					}
				}
			}
		}
	}
}

func TestNearestOfFewRows(t *testing.T) {
	from := scattered(1, 2, 1, 1, 0)
	s := NewSpace(Gower, from)
	if n := NearestAll(s, from, from.Slice(0, 0), 1)[0]; n.Row != -1 || !math.IsInf(n.First, 1) || !math.IsNaN(n.NNDR()) {
		t.Errorf("nearest of no rows is %+v", n)
	}
	if n := NearestAll(s, from, from.Slice(0, 1), 1)[0]; n.Row != 0 || n.First != 0 || !math.IsNaN(n.NNDR()) {
		t.Errorf("nearest of one row is %+v", n)
	}
}

// TestMissingIsNear: a missing value is 1 away, nearer than the numbers of a box
// that are all farther.
func TestMissingIsNear(t *testing.T) {
	to, from := scattered(1, 60, 1, 0, 0), scattered(2, 1, 1, 0, 0)
	for i := range to.Columns[0].Numbers {
		to.Columns[0].Numbers[i] = float64(i) / 30
	}
	to.Columns[0].Numbers[50], from.Columns[0].Numbers[0] = math.NaN(), -40
	if n := NearestAll(NewSpace(EuclideanMixed, to), from, to, 1)[0]; n.Row != 50 || n.First != 1 {
		t.Errorf("nearest is %+v, must be row 50 at distance 1", n)
	}
}
