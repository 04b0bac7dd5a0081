package columns

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/enginetest"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// statedGrids returns the columns at which the cell of a value is computed in different ways.
func statedGrids() []domain.Column {
	list := []domain.Column{
		{Type: domain.Categorical, Categories: []string{"a", "b", "c"}}, {Type: domain.Boolean},
		{Type: domain.Ordinal, Categories: []string{"a"}},
		bounded(domain.Integer, 17, 90, 0), bounded(domain.Integer, -10, 12, 5), bounded(domain.Integer, 0, 65536, 0),
		bounded(domain.Integer, -1e7, 1e7, 3),
		bounded(domain.Integer, 0, 3e6, 0), bounded(domain.Integer, -1e300, 1e300, 0),
		bounded(domain.Integer, -9007199254740991, 9007199254740991, 7),
		bounded(domain.Integer, 9007199254740985, 1e300, 0), bounded(domain.Integer, -1e300, -9007199254740985, 2),
		bounded(domain.Integer, 5, 5, 0), bounded(domain.Date, .5, 3.5, 0), bounded(domain.Integer, 9e15, 9007199254740992,
			1e15),
		bounded(domain.Numeric, 0, .3, .1), bounded(domain.Numeric, .05, 1, .3), bounded(domain.Numeric, 2, 3, 5),
		bounded(domain.Numeric, 0, 4096, 0),
		bounded(domain.Numeric, 3, 3, 0), bounded(domain.Numeric, -math.MaxFloat64, math.MaxFloat64, 0),
		bounded(domain.Numeric, 0, 1, 1e-300),
		bounded(domain.Numeric, -1e5, 1e5, .01), bounded(domain.Numeric, 0, 5e-324, 0), bounded(domain.Numeric, 0, 1e-300, 0),
		bounded(domain.Numeric, 0, 1e-304, 0),
		bounded(domain.Numeric, -7.5, 1e7, .1), bounded(domain.Numeric, 1e15, 1e16, 3), bounded(domain.Numeric, 0, 1e6, 0),
		bounded(domain.Numeric, -1e-305, 1e-303, 0),
		bounded(domain.Numeric, 0, 1e300, 1e290), bounded(domain.Numeric, -1e9, 1e9, 1e-6),
	}
	for _, c := range list {
		list = append(list, nullable(c))
	}
	return list
}

// TestStatedIsRead: the cell that a grid states, and the point in it, is the one that ReadCodes gives the same value,
// at every border of the grid and at random; a value that is missing or of no category is in the cell of faults.
func TestStatedIsRead(t *testing.T) {
	for _, c := range statedGrids() {
		if g, err := GridOf(c); err == nil {
			compareStated(t, g, rand.New(rand.NewPCG(1, 1)))
		}
	}
}

// FuzzStated is TestStatedIsRead for any column.
func FuzzStated(f *testing.F) {
	for kind := range uint8(3) {
		f.Add(kind, 0., 100., 0., uint64(1))
		f.Add(kind, -7.5, 1e7, .1, uint64(2))
		f.Add(kind, -1e308, 1e308, 1e-9, uint64(4))
		f.Add(kind, -1e16, 1e15, 3., uint64(4))
		f.Add(kind, 0., 5e-324, 0., uint64(5))
		f.Add(kind, .05, 1e6, .7, uint64(6))
	}
	f.Fuzz(func(t *testing.T, kind uint8, least, greatest, step float64, seed uint64) {
		c := bounded([]domain.ColumnType{domain.Numeric, domain.Integer, domain.Date}[kind%3], least, greatest, step)
		if g, err := GridOf(c); err == nil {
			compareStated(t, g, rand.New(rand.NewPCG(seed, 2)))
		}
	})
}

func compareStated(t *testing.T, g Grid, rng *rand.Rand) {
	t.Helper()
	subject := map[bool]relation.Type{true: relation.Whole, false: relation.Real}[g.line.whole]
	if g.Coded() {
		subject = relation.Code
	}
	value := relation.Stored([]string{"x"}, []relation.Type{subject}).Columns()[0]
	cell := g.Stated(value)
	if got := pipelinetest.Interpret(cell, nil); got != int64(g.Values()) {
		t.Errorf("%s: a missing value is in cell %v, must be %d", shown(g), got, g.Values())
	}
	if least, greatest := cell.Span(); least < 0 || greatest > int64(g.Cells()) {
		t.Errorf("%s: cells go from %d to %d, must be held from 0 to %d", shown(g), least, greatest, g.Cells())
	}
	if g.Coded() {
		for code := range int64(g.Values() + 2) {
			want := code
			if code >= int64(g.Values()) {
				want = int64(g.Cells())
			}
			if got := pipelinetest.Interpret(cell, code); got != want {
				t.Errorf("%s: code %d is in cell %v, must be %d", shown(g), code, got, want)
			}
		}
		return
	}
	for _, x := range append(g.Borders(), someOf(g, rng)...) {
		compareAt(t, g, value, x)
	}
}

// someOf draws numbers in the bounds of a grid, and about them.
func someOf(g Grid, rng *rand.Rand) (list []float64) {
	for range 300 {
		least, greatest := g.column.Bounds[0]/2, g.column.Bounds[1]/2
		x := 2 * (least + float64((rng.Float64()*1.2-.1)*(greatest-least)))
		if g.line.whole {
			x = math.Round(min(max(x, -0x1p62), 0x1p62))
		}
		list = append(list, x)
	}
	return list
}

func compareAt(t *testing.T, g Grid, value relation.Expr, x float64) {
	t.Helper()
	in, a := any(x), arrow.Array(nil)
	if g.line.whole {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.Append(int64(x))
		in, a = int64(x), b.NewArray()
	} else {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.Append(x)
		a = b.NewArray()
	}
	defer a.Release()
	cells, err := g.append(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	points := g.appendWithin(nil, a)
	if got := pipelinetest.Interpret(g.Stated(value), in); got != int64(cells[0]) {
		t.Errorf("%s: %v is in cell %v, must be %d", shown(g), in, got, cells[0])
	}
	if g.HasInnerCounts() {
		if got := pipelinetest.Interpret(g.StatedWithin(value), in); got != int64(points[0]) {
			t.Errorf("%s: %v is point %v of its cell, must be %d", shown(g), in, got, points[0])
		}
	}
}

func shown(g Grid) string {
	c := g.column
	if c.Bounds == nil {
		return fmt.Sprint(c.Type, c.Categories, c.Nullable)
	}
	return fmt.Sprint(c.Type, *c.Bounds, c.Step, c.Nullable)
}

// TestBordersShowEveryChange: among a grid's borders are the last number of a cell and the first of the next, for each
// of 900 cells or all, and there are no more than some 3,000 numbers.
func TestBordersShowEveryChange(t *testing.T) {
	for _, c := range statedGrids() {
		g, err := GridOf(c)
		if err != nil || g.Coded() {
			continue
		}
		list := g.Borders()
		if len(list) > 3000 {
			t.Errorf("%s: %d borders", shown(g), len(list))
		}
		seen := map[int]bool{}
		for i := 1; i < len(list); i++ {
			if a, b := g.Cell(list[i-1]), g.Cell(list[i]); b == a+1 {
				seen[b] = true
			}
		}
		if want := min(g.Values()-1, mostBorders); len(seen) < want {
			t.Errorf("%s: %d of %d borders are shown", shown(g), len(seen), want)
		}
	}
}

// TestEnginesComputeCells: each engine computes the cells of grids as ReadCodes does, and the points in them, at all
// borders and at random numbers.
func TestEnginesComputeCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, e := range enginetest.List(t) {
		d := map[string]sql.Dialect{"postgres": sql.Postgres(), "duckdb": sql.DuckDB(), "spark": sql.Spark()}[e.Name]
		for _, c := range statedGrids() {
			if g, err := GridOf(c); err == nil && !g.Coded() {
				computeCells(t, e, d, g, append(g.Borders(), someOf(g, rng)...))
			}
		}
	}
}

func computeCells(t *testing.T, e enginetest.Engine, d sql.Dialect, g Grid, values []float64) {
	t.Helper()
	subject := map[bool]relation.Type{true: relation.Whole, false: relation.Real}[g.line.whole]
	value := relation.Stored([]string{"x"}, []relation.Type{subject}).Columns()[0]
	list := []relation.Expr{g.Stated(value)}
	if g.HasInnerCounts() {
		list = append(list, g.StatedWithin(value))
	}
	statement, err := d.Try(subject, values, list)
	if err != nil {
		t.Fatalf("%s, %s: %v", e.Name, shown(g), err)
	}
	rows, err := e.Rows(statement)
	if err != nil || len(rows) != len(values) {
		t.Fatalf("%s, %s: %d rows of %d: %v", e.Name, shown(g), len(rows), len(values), err)
	}
	for _, row := range rows {
		pos, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		in := any(values[pos])
		if g.line.whole {
			in = int64(values[pos])
		}
		for i, expression := range list {
			if want := fmt.Sprint(pipelinetest.Interpret(expression, in)); row[i+1] != want {
				t.Errorf("%s, %s: %v has the cell or point %s, must be %s", e.Name, shown(g), in, row[i+1], want)
				return
			}
		}
	}
}
