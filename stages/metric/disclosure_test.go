package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestClopperPearson: intervals as R's binom.test prints them.
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{5, 10, 0.187086, 0.812914}, {0, 10, 0, 0.3084971}, {10, 10, 0.6915029, 1}} {
		r := NewRate(c.k, c.n)
		if math.Abs(r.Low-c.low) > 1e-6 || math.Abs(r.High-c.high) > 1e-6 {
			t.Errorf("%d of %d: %v to %v, must be %v to %v", c.k, c.n, r.Low, r.High, c.low, c.high)
		}
	}
	if r := NewRate(0, 0); !math.IsNaN(r.Share) {
		t.Errorf("a share of nothing is %v", r.Share)
	}
}

// TestMembership: members score one standard deviation higher: power at 5 % is Phi(1-1.6449) =
// 0.2595. With 20,000 of each, it is within 0.025, more than five standard deviations with the deviation of the
// threshold; scores of one distribution are far outside.
func TestMembership(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	draw := func(shift float64) []float64 {
		x := make([]float64, 20000)
		for i := range x {
			x[i] = rng.NormFloat64() + shift
		}
		return x
	}
	m := NewMembership(draw(1), draw(0), 0.05)
	if math.Abs(m.Power.Share-0.2595) > 0.025 || math.Abs(m.FalsePositive.Share-0.05) > 0.025 {
		t.Errorf("attack on shifted scores: %+v", m)
	}
	if m = NewMembership(draw(0), draw(0), 0.05); m.Power.Share > 0.08 {
		t.Errorf("attack on equal scores: %+v", m)
	}
}

func TestMatches(t *testing.T) {
	f := scattered(1, 50, 1, 1, 0.3)
	m := NewMatches(f)
	if n := m.Of(f); n != 50 {
		t.Errorf("%d of 50 rows match themselves", n)
	}
	twice := f.Take([]int{0, 0, 1})
	m = NewMatches(twice)
	if unique, matched := m.Unique(f); unique != 1 || matched != 1 {
		t.Errorf("%d unique rows, %d matched, must be 1 and 1", unique, matched)
	}
	a, b := scattered(1, 1, 1, 0, 0), scattered(1, 1, 1, 0, 0)
	a.Columns[0].Numbers[0], b.Columns[0].Numbers[0] = 0, math.Copysign(0, -1)
	if NewMatches(a).Of(b) != 1 {
		t.Error("0 and -0 differ")
	}
}

// fullScan returns Nearest by definition.
func fullScan(s *Space, q *Points, i int, p *Points, skip int) NearestTwo {
	n := NearestTwo{Row: -1, First: math.Inf(1), Second: math.Inf(1)}
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
			for _, metric := range []RowDistance{EuclideanMixed, Gower} {
				source, to := scattered(1, 60, shape[0], shape[1], missing), scattered(2, 400, shape[0], shape[1], missing)
				s := NewSpace(metric, to)
				q, p := s.Points(source), s.Points(to)
				tree := newTree(s, p)
				for i := range source.Rows {
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
	source := scattered(1, 2, 1, 1, 0)
	s := NewSpace(Gower, source)
	if n := NearestAll(s, source, source.Slice(0, 0), 1)[0]; n.Row != -1 || !math.IsInf(n.First, 1) ||
		!math.IsNaN(n.NNDR()) {
		t.Errorf("nearest of no rows is %+v", n)
	}
	if n := NearestAll(s, source, source.Slice(0, 1), 1)[0]; n.Row != 0 || n.First != 0 || !math.IsNaN(n.NNDR()) {
		t.Errorf("nearest of one row is %+v", n)
	}
}

// TestMissingIsNear: a missing value is 1 away, nearer than the numbers of a box
// that are all farther.
func TestMissingIsNear(t *testing.T) {
	target, source := scattered(1, 60, 1, 0, 0), scattered(2, 1, 1, 0, 0)
	for i := range target.Columns[0].Numbers {
		target.Columns[0].Numbers[i] = float64(i) / 30
	}
	target.Columns[0].Numbers[50], source.Columns[0].Numbers[0] = math.NaN(), -40
	if n := NearestAll(NewSpace(EuclideanMixed, target), source, target, 1)[0]; n.Row != 50 || n.First != 1 {
		t.Errorf("nearest is %+v, must be row 50 at distance 1", n)
	}
}
