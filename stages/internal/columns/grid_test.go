package columns

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/pipeline/domain"
)

func bounded(t domain.ColumnType, least, greatest, step float64) domain.Column {
	return domain.Column{Name: "x", Type: t, Bounds: &[2]float64{least, greatest}, Step: step}
}

func nullable(c domain.Column) domain.Column { c.Nullable = true; return c }

func gridOf(t *testing.T, c domain.Column) Grid {
	t.Helper()
	g, err := GridOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGridByHand: cells by hand, for each kind of column: how many, the cell of some values, and what a
// cell spans. Values outside, off the grid and infinite go to the nearest.
func TestGridByHand(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		column      domain.Column
		cells       int
		values      map[float64]int
		cell        int
		least, most float64 // of that cell
	}{
		"categories": {domain.Column{Type: domain.Categorical, Categories: []string{"a", "b", "c"}}, 3,
			map[float64]int{0: 0, 2: 2, 9: 2, -1: 0}, 1, 1, 1},
		"categories, missing": {domain.Column{Type: domain.Ordinal, Nullable: true, Categories: []string{"a", "b"}}, 3,
			map[float64]int{0: 0, 1: 1, math.NaN(): 2}, 1, 1, 1},
		"boolean without spellings": {domain.Column{Type: domain.Boolean}, 2, map[float64]int{0: 0, 1: 1}, 1, 1, 1},
		"whole numbers": {bounded(domain.Integer, 17, 90, 0), 74, map[float64]int{17: 0, 18: 1, 90: 73, 91: 73,
			-inf: 0, inf: 73}, 73, 90, 90},
		"every fifth": {nullable(bounded(domain.Integer, -10, 12, 5)), 6, map[float64]int{-10: 0, -8: 0, -7: 1,
			10: 4, 12: 4}, 4, 10, 10},
		"dates between halves": {bounded(domain.Date, .5, 3.5, 0), 3, map[float64]int{1: 0, 3: 2, 4: 2}, 0, 1, 1},
		"tenths": {bounded(domain.Numeric, 0, .3, .1), 4, map[float64]int{0: 0, .1: 1, .2: 2, .3: 3,
			.26: 3, .24: 2}, 3, .3, .3},
		"steps off zero": {bounded(domain.Numeric, .05, 1, .3), 4, map[float64]int{.05: 0, .34: 1, .35: 1, .95: 3,
			1: 3}, 2, .65, .65},
		"a step beyond the bounds": {bounded(domain.Numeric, 2, 3, 5), 1, map[float64]int{2: 0, 3: 0}, 0, 2, 2},
		"a line": {bounded(domain.Numeric, 0, 4096, 0), 4096, map[float64]int{0: 0, .99: 0, 1: 1,
			4095.5: 4095, 4096: 4095, inf: 4095, -inf: 0}, 7, 7, 8},
		"a point": {bounded(domain.Numeric, 3, 3, 0), 1, map[float64]int{3: 0, 5: 0}, 0, 3, 3},
		"all numbers": {bounded(domain.Numeric, -math.MaxFloat64, math.MaxFloat64, 0), 4096,
			map[float64]int{-inf: 0, 0: 2048, inf: 4095}, 2048, 0, math.MaxFloat64 / 2048},
		"as many as there are codes": {bounded(domain.Integer, 0, 65535, 0), 65536, map[float64]int{65535: 65535}, 65535,
			65535, 65535},
		"one too many with missing": {nullable(bounded(domain.Integer, 0, 65535, 0)), 32769, map[float64]int{0: 0, 1: 0,
			2: 1, 65535: 32767}, 3, 6, 7},
		"a last cell of one point": {bounded(domain.Integer, 0, 65536, 0), 32769, map[float64]int{65535: 32767,
			65536: 32768}, 32768, 65536, 65536},
		"a step too fine": {bounded(domain.Numeric, 0, 1, 1e-300), 4096, map[float64]int{0: 0, .5: 2048, 1: 4095},
			2048, .5, .5 + 1./4096},
	} {
		g := gridOf(t, c.column)
		if g.Cells() != c.cells || g.Cells()-g.Values() != map[bool]int{true: 1}[c.column.Nullable] {
			t.Errorf("%s: %d cells, %d of values, must be %d", name, g.Cells(), g.Values(), c.cells)
		}
		for x, want := range c.values {
			if got := g.Cell(x); got != want {
				t.Errorf("%s: %v is in cell %d, must be %d", name, x, got, want)
			}
		}
		if least, most := g.Interval(c.cell); math.Abs(least-c.least) > 1e-12*math.Abs(most) ||
			math.Abs(most-c.most) > 1e-12*math.Abs(most) {
			t.Errorf("%s: cell %d spans %v to %v, must be %v to %v", name, c.cell, least, most, c.least, c.most)
		}
	}
}

// TestGridRefuses: what has no closed set of values is refused by name, with what is accepted.
func TestGridRefuses(t *testing.T) {
	many := make([]string, 1<<16)
	for want, c := range map[string]domain.Column{
		"column x: is text, must be of a type with a closed set of values": {Name: "x",
			Type: domain.Text},
		"column x: is encoded, must be a column as it is before the stage encode": {Name: "x",
			Type: domain.Numeric, Encoding: &domain.Encoding{}},
		"column x: is a number without bounds, must be one whose domain has bounds": {Name: "x",
			Type: domain.Integer},
		"column x: is a list of 0 categories, must be 1 to 65536": {Name: "x",
			Type: domain.Categorical},
		"column x: is a list of 65536 categories, must be 1 to 65535": {Name: "x",
			Type: domain.Categorical, Nullable: true, Categories: many},
		"column x: is bounded by [2, 1], must be [least, greatest], both finite": bounded(
			domain.Numeric, 2, 1, 0),
		"column x: is bounded by [NaN, 1], must be [least, greatest], both finite": bounded(
			domain.Numeric, math.NaN(), 1, 0),
		"column x: is bounded by [0, +Inf], must be [least, greatest], both finite": bounded(
			domain.Numeric, 0, math.Inf(1), 0),
		"column x: is bounded by [0.2, 0.8], where no value lies, must be [least, greatest] with a value between": bounded(
			domain.Integer, .2, .8, 0),
	} {
		if _, err := GridOf(c); err == nil || err.Error() != want {
			t.Errorf("error %v, must be %s", err, want)
		}
	}
	if g := gridOf(t, domain.Column{Name: "x", Type: domain.Categorical, Categories: many}); g.Cells() != 1<<16 {
		t.Errorf("%d cells", g.Cells())
	}
}

// FuzzGrid: whatever the column, a drawn value is in the cell it was drawn for and
// inside its interval and the bounds, neighbours do not overlap, a value's cell does not
// fall as it grows, and both ends are reached.
func FuzzGrid(f *testing.F) {
	for kind := range uint8(3) {
		f.Add(kind, 0., 100., 0., uint64(1), true)
		f.Add(kind, -7.5, 1e7, .1, uint64(2), false)
		f.Add(kind, 1e15, 1e16, 3., uint64(3), true)
		f.Add(kind, -1e308, 1e308, 1e-9, uint64(4), false)
		f.Add(kind, 0., 5e-324, 0., uint64(5), false)
		f.Add(kind, .05, 1e6, .7, uint64(6), false)
	}
	f.Fuzz(func(t *testing.T, kind uint8, least, greatest, step float64, seed uint64, null bool) {
		c := bounded([]domain.ColumnType{domain.Numeric, domain.Integer, domain.Date}[kind%3], least, greatest, step)
		c.Nullable = null
		g, err := GridOf(c)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "column x: is ") {
				t.Error(err)
			}
			return
		}
		if g.Cells() > mostCells || g.Values() < 1 || g.Cell(least) != 0 || g.Cell(greatest) != g.Values()-1 {
			t.Fatalf("%d cells; the bounds are in %d and %d", g.Cells(), g.Cell(least), g.Cell(greatest))
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 50 {
			cell := rng.IntN(g.Values())
			lo, hi := g.Interval(cell)
			x := g.Value(cell, rng)
			if x < lo || x > hi || x < least || x > greatest || lo > hi {
				t.Fatalf("cell %d of [%v, %v] has value %v", cell, lo, hi, x)
			}
			if at := g.Cell(x); at != cell && !(g.line.open && (x == lo || x == hi)) && !tooFine(c, x) {
				t.Fatalf("value %v of cell %d is in cell %d", x, cell, at)
			}
			if cell > 0 {
				if _, before := g.Interval(cell - 1); before > lo || !g.line.open && before == lo && !tooFine(c, x) {
					t.Fatalf("cell %d ends at %v, the next begins at %v", cell-1, before, lo)
				}
			}
			if y := x + math.Abs(rng.NormFloat64())*(greatest-least); g.Cell(y) < g.Cell(x) {
				t.Fatalf("%v is in cell %d, %v in %d", x, g.Cell(x), y, g.Cell(y))
			}
		}
	})
}

// tooFine says that float64 has few values in a cell of a column at x.
func tooFine(c domain.Column, x float64) bool {
	return c.Bounds[1]-c.Bounds[0] < 1e6*(math.Nextafter(math.Abs(x), math.Inf(1))-math.Abs(x)) ||
		c.Step > 0 && c.Step < 16*(math.Nextafter(math.Abs(x), math.Inf(1))-math.Abs(x))
}
