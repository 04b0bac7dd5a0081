package question

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// frame returns a table of columns x, y, z in [0, 1] and a category c.
func frame(rows [][3]float64, c []int32) *columns.Frame {
	f := &columns.Frame{Rows: len(rows)}
	for j, name := range []string{"x", "y", "z"} {
		col := columns.Column{Name: name, Type: domain.Numeric}
		for _, r := range rows {
			col.Numbers = append(col.Numbers, r[j])
		}
		f.Columns = append(f.Columns, col)
	}
	f.Columns = append(f.Columns, columns.Column{Name: "c", Type: domain.Categorical, Codes: c, Categories: []string{"a",
		"b", "c"}})
	return f
}

func unit(n int) (b [][2]float64) {
	for range n {
		b = append(b, [2]float64{0, 1})
	}
	return b
}

func questions() map[string]Resolved {
	where := []Condition{{Column: "c", In: []string{"a", "b"}}}
	cov := Resolved{Question: Question{Ask: Covariance}, Columns: []string{"x", "y", "z"}, Bounds: unit(3),
		Cells: make([]string, 3)}
	return map[string]Resolved{
		"count":      {Question: Question{Ask: Count, Where: where}},
		"histogram":  {Question: Question{Ask: Histogram, Column: "c"}, Cells: []string{"a", "b", "c"}},
		"mean":       {Question: Question{Ask: Mean, Column: "x", Where: where}, Bounds: unit(1)},
		"whole mean": {Question: Question{Ask: Mean, Column: "x"}, Bounds: unit(1), Rows: 7},
		"covariance": cov,
	}
}

// tally, scatter and answersOf are the tally, scatter and answers of a table that nobody stops.
func tally(t testing.TB, a Resolved, f *columns.Frame) []int64 {
	t.Helper()
	list, err := a.Tally(t.Context(), f)
	must(t, err)
	return list
}

func scatter(t testing.TB, a Resolved, f *columns.Frame) []int64 {
	t.Helper()
	list, err := a.Scatter(t.Context(), f)
	must(t, err)
	return list
}

func answersOf(t testing.TB, a Resolved, f *columns.Frame) []Answer {
	t.Helper()
	list, err := a.Of(t.Context(), f)
	must(t, err)
	return list
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func distance(a, b []int64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]-b[i]) * float64(a[i]-b[i])
	}
	return math.Sqrt(sum)
}

// TestMovesAreThoseOfOneRow: over neighbours whose rows are at the ends of the bounds, or
// anywhere, no tally moves further than is stated, under either adjacency, and some
// neighbours come within 1 % of it: a bound that is 1 % too small fails here.
func TestMovesAreThoseOfOneRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, a := range questions() {
		tally, m := func(f *columns.Frame) []int64 { return tally(t, a, f) }, a.Moves()
		added, replaced := furthest(rng, 2, tally)
		for what, x := range map[string][2]float64{"add_remove": {added, m.AddRemove}, "replace_one": {replaced,
			m.ReplaceOne}} {
			if x[0] > x[1] || x[0] < 0.99*x[1] {
				t.Errorf("%s: a row moves the tally by %g under %s, stated is %g", name, x[0], what, x[1])
			}
		}
	}
	a := questions()["covariance"]
	sums := func(f *columns.Frame) []int64 { return scatter(t, a, f) }
	_, replaced := furthest(rng, 200, sums)
	added, _ := furthest(rng, 3, sums)
	if m := a.ScatterMoves(); replaced > m.ReplaceOne || replaced < 0.99*m.ReplaceOne || added > m.AddRemove {
		t.Errorf("a row moves the scatter by %g and %g, stated is %v", added, replaced, m)
	}
	if got, want := a.PublishedMoves()/square, math.Sqrt(3); got != want {
		t.Errorf("the published bound is %g over n, must be sqrt(d(d-1)/2) = %g", got, want)
	}
}

// furthest returns how far a tally of n rows and one more moves where that comes, and where it
// is exchanged. Partners are at one end each, so that a row is as far from all of them as
// it can be.
func furthest(rng *rand.Rand, n int, tally func(*columns.Frame) []int64) (added, replaced float64) {
	for range 4000 {
		end := float64(rng.IntN(2))
		rows, c := make([][3]float64, n), make([]int32, n)
		for i := range rows {
			rows[i] = [3]float64{end, end, end}
		}
		one, other := anyRow(rng), anyRow(rng)
		if rng.IntN(3) == 0 { // from the place of the partners to the far end
			one, other = [3]float64{end, end, end}, [3]float64{1 - end, 1 - end, 1 - end}
		}
		k, l := int32(rng.IntN(3)), int32(rng.IntN(3))
		base := tally(frame(rows, c))
		with := tally(frame(append(rows[:n:n], one), append(c[:n:n], k)))
		without := tally(frame(append(rows[:n:n], other), append(c[:n:n], l)))
		added, replaced = max(added, distance(with, base)), max(replaced, distance(with, without))
	}
	return added, replaced
}

// anyRow has values at the ends, beyond them, and between.
func anyRow(rng *rand.Rand) (r [3]float64) {
	for j := range r {
		r[j] = []float64{0, 1, 0, 1, -3, 1e9, rng.Float64(), 0.5}[rng.IntN(8)]
	}
	return r
}
