package graphical

import (
	"math"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/train/histogram"
)

// TestFlatWhereRowsSuffice: numbers of up to 256 cells whose rows are at
// least half the noise of each cell, or not public, are released cell by cell; all others
// by a tree.
func TestFlatWhereRowsSuffice(t *testing.T) {
	number := func(most float64) domain.Column {
		return domain.Column{Name: "x", Type: domain.Integer, Bounds: &[2]float64{1, most}}
	}
	for _, c := range []struct {
		column      domain.Column
		rows, sigma float64
		want        bool
	}{
		{number(100), 500, 10, true}, {number(100), 499, 10, false}, {number(100), 0, 1e9, true},
		{number(256), 1e9, 1, true}, {number(257), 1e9, 1, false}, {number(257), 0, 1, false},
	} {
		g, err := columns.GridOf(c.column)
		must(t, err)
		if got := (&oneWay{grid: g, rows: c.rows}).flat(c.sigma); got != c.want {
			t.Errorf("%v, %g rows, sigma %g: flat is %v", c.column.Bounds, c.rows, c.sigma, got)
		}
	}
}

// TestSharesOfColumns, by hand: 8 and 1000 cells of which 27 count have 4 : 9 of the
// budget. 400 rows at mu 1 over two columns have noise sqrt(2 2) = 2 of an equal share:
// 4 sqrt(200) = 56.6 cells count; more than 100 never do, and 100 where rows are not public.
func TestSharesOfColumns(t *testing.T) {
	parts := shares([]int{8, 1000}, []float64{1, 1}, 27)
	if math.Abs(parts[0]-4./13) > 1e-12 || math.Abs(parts[1]-9./13) > 1e-12 {
		t.Errorf("shares %v, must be 4/13 and 9/13", parts)
	}
	two := layout{core: &domain.Domain{Columns: make([]domain.Column, 2)}}
	for _, c := range []struct {
		front front
		want  float64
	}{
		{front{layout: two, rows: 400, public: true}, 4 * math.Sqrt(200)},
		{front{layout: two, rows: 1e9, public: true}, 100},
		{front{layout: two, rows: 400}, 100},
	} {
		if got := c.front.sharedCells(1); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g rows, public %v: %g cells count, must be %g", c.front.rows, c.front.public, got, c.want)
		}
	}
}

// TestReleasesOfATreeAreCombined: the sum of all rows and the missing ones are means by
// precision over the releases. By hand: sums 100 of 2 ranges and 94 of 4 at equal noise have
// weights 2 : 1; missing counts 10 of variance 4 and 20 of variance 12 have 3 : 1.
func TestReleasesOfATreeAreCombined(t *testing.T) {
	g, err := columns.GridOf(domain.Column{Name: "x", Type: domain.Integer, Bounds: &[2]float64{1, 300}, Nullable: true})
	must(t, err)
	o := &oneWay{grid: g}
	o.take([][2]int{{0, 300}, {300, 301}}, noisy{[]float64{90, 10}, 4})
	o.take([][2]int{{0, 100}, {100, 200}, {200, 300}, {300, 301}}, noisy{[]float64{40, 30, 14, 10}, 4})
	if math.Abs(o.sum-98) > 1e-9 || math.Abs(o.sumVariance-16./3) > 1e-9 {
		t.Errorf("%g rows of variance %g, must be 98 of 16/3", o.sum, o.sumVariance)
	}
	o = &oneWay{grid: g}
	o.take([][2]int{{0, 300}, {300, 301}}, noisy{[]float64{90, 10}, 4})
	o.take([][2]int{{0, 300}, {300, 301}}, noisy{[]float64{90, 20}, 12})
	if math.Abs(o.missing.Y[0]-12.5) > 1e-9 || math.Abs(o.missing.Variance-3) > 1e-9 {
		t.Errorf("missing %+v, must be 12.5 of variance 3", o.missing)
	}
}

// TestCountedAgain: a leaf of a file that a further marginal counts again has the mean by
// precision, 10 of variance 4 and 20 of variance 12, and its variance.
func TestCountedAgain(t *testing.T) {
	got := divided([]histogram.Leaf{{Lo: 0, Hi: 5, Count: 10, Var: 4}},
		[]histogram.Leaf{{Lo: 0, Hi: 5, Count: 20, Var: 12}})
	if len(got) != 1 || math.Abs(got[0].Count-12.5) > 1e-9 || math.Abs(got[0].Var-3) > 1e-9 {
		t.Errorf("%+v, must be 12.5 of variance 3", got)
	}
}
