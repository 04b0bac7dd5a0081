package graphical

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/stages/model/artifact"
	"weir/train/graphical"
)

// within draws n rows and holds them against the header: types, bounds, steps,
// categories, and no missing value where there is to be none.
func within(t *testing.T, m *released, n int) {
	t.Helper()
	rec := drawRows(t, m, n)
	if !rec.Schema().Equal(m.Header().Schema) || rec.NumRows() != int64(n) {
		t.Fatalf("%d rows of %s, must be %d of %s", rec.NumRows(), rec.Schema(), n, m.Header().Schema)
	}
	for j, c := range m.Domain.Columns {
		a := rec.Column(j)
		if a.NullN() > 0 && !c.Nullable {
			t.Errorf("column %s: %d values are missing", c.Name, a.NullN())
		}
		for i := range n {
			if a.IsValid(i) && !c.Type.Coded() && !columnHolds(c, number(a, i)) {
				t.Fatalf("column %s: a value is %g, must lie in %v on the step %g", c.Name, number(a, i), *c.Bounds, c.Step)
			}
			if a.IsValid(i) && c.Type.Coded() && int(number(a, i)) >= len(c.Categories) {
				t.Fatalf("column %s: a code is %g of %d categories", c.Name, number(a, i), len(c.Categories))
			}
		}
	}
}

func number(a arrow.Array, i int) float64 {
	switch a := a.(type) {
	case *array.Int64:
		return float64(a.Value(i))
	case *array.Int32:
		return float64(a.Value(i))
	}
	return a.(*array.Float64).Value(i)
}

func columnHolds(c domain.Column, x float64) bool {
	step := c.Step
	if c.Type != domain.Numeric {
		step = 1
	}
	off := 0.0
	if step > 0 {
		steps := (x - c.Bounds[0]) / step
		off = math.Abs(steps - math.Round(steps))
	}
	return x >= c.Bounds[0] && x <= c.Bounds[1] && off < 1e-9
}

// TestRowsOfAWard: every form of column comes back in its domain, missing values too.
func TestRowsOfAWard(t *testing.T) {
	m := attempt{stage: marginalTreeKind().New(), in: ward(400), multiplier: 0.05}.model(t)
	within(t, m, 1000)
	rec := drawRows(t, m, 1000)
	for j, want := range map[int]int{1: 1000 / 9, 4: 1000 / 11} {
		if got := rec.Column(j).NullN(); got < want/2 || got > want*2 {
			t.Errorf("column %s: %d of 1000 values are missing, are some %d of the table", m.Domain.Columns[j].Name, got, want)
		}
	}
}

// TestBlocksAreBounded: a block has at most 256 MB of codes of two bytes, and 4 million rows.
func TestBlocksAreBounded(t *testing.T) {
	for columns, rows := range map[int]int64{1: 1 << 22, 13: 1 << 22, 32: 1 << 22, 179: 749_819, 4096: 1 << 15} {
		if got := block(columns); got != rows || 2*got*int64(columns) > 1<<28 {
			t.Errorf("of %d columns it has %d rows, must have %d", columns, got, rows)
		}
	}
}

// TestRowsAreRounded: over a whole drawing each code has the model's share of rows to
// within a row for each group of the tree above it, far nearer than chance is, and a
// second drawing has the same counts of the root.
func TestRowsAreRounded(t *testing.T) {
	m := attempt{stage: independentKind().New(), in: ward(4000), multiplier: 0.02}.model(t)
	const n = 10_000
	region, err := m.model.Marginal(graphical.Set{4})
	must(t, err)
	counts := make([]float64, 4)
	rec := drawRows(t, m, n)
	for i := range n {
		code := 3
		if rec.Column(4).IsValid(i) {
			code = int(number(rec.Column(4), i))
		}
		counts[code]++
	}
	to := m.Columns[4].codeOf()
	for code, got := range counts {
		if want := region[to[code]] / m.model.Total() * n; math.Abs(got-want) > 2 {
			t.Errorf("region %d has %g of %d rows, must have %.1f", code, got, n, want)
		}
	}
}

// TestIndependentRowsAreNotRounded: two rows of two alike halves, of a column and inside a bin of
// another, are in one half as often as in two: of 400 drawings fewer than 120 or more than 280 are
// 8 deviations off (1e-15). Rounded ones never are.
func TestIndependentRowsAreNotRounded(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "half", Type: domain.Categorical, Categories: []string{"a", "b"}}}}
	columns := make([]any, 400)
	for i := range columns {
		columns[i] = []string{"a", "b"}[i%2]
	}
	m := attempt{stage: independentKind().New(), in: pipelinetest.Input{Header: header(d, 400), Rows: pipelinetest.Rows(d,
		columns)}, multiplier: 0.001}.model(t)
	rng := rand.New(rand.NewPCG(8, 8))
	for _, independent := range []bool{true, false} {
		alike := 0
		for range 400 {
			rows, err := m.Draw(artifact.Drawing{Rows: 2, Independent: independent, Random: func(string) *rand.Rand {
				return rng
			}})
			must(t, err)
			rec, err := rows(2)
			must(t, err)
			if number(rec.Column(0), 0) == number(rec.Column(0), 1) {
				alike++
			}
		}
		if right := alike >= 120 && alike <= 280; right != independent {
			t.Errorf("independent: %v; %d of 400 drawings of two rows have equal ones", independent, alike)
		}
	}
}

// TestBatchesAreOneDrawing: rows asked for in batches are those asked for at once.
func TestBatchesAreOneDrawing(t *testing.T) {
	m := attempt{stage: marginalTreeKind().New(), in: table([]int{4, 5}, []int{0, 1, 2, 3, 3}, []int{4, 3, 2, 1, 0}),
		multiplier: 0.1}.model(t)
	how := artifact.Drawing{Rows: 100, Random: func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }}
	whole, err := m.Draw(how)
	must(t, err)
	all, err := whole(100)
	must(t, err)
	parts, err := m.Draw(how)
	must(t, err)
	for pos := 0; pos < 100; pos += 30 {
		part, err := parts(min(30, 100-pos))
		must(t, err)
		if want := all.NewSlice(int64(pos), min(int64(pos+30), 100)); !array.RecordEqual(part, want) {
			t.Errorf("rows from %d: %v, must be %v", pos, part, want)
		}
	}
	if more, err := parts(7); err != nil || more.NumRows() != 7 {
		t.Errorf("beyond what was announced: %v, %v", more, err)
	}
	if _, err := m.Draw(artifact.Drawing{Argmax: true}); err == nil {
		t.Error("the most probable categories are drawn")
	}
}

// TestHeapsOfWideNumbers: a number of more points than cells keeps its heaps to the
// point: of 1,000 rows of which 700 are 0 and 150 are 15024, none of the two comes
// back as its neighbour.
func TestHeapsOfWideNumbers(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "gain", Type: domain.Integer, Bounds: &[2]float64{0, 99999}},
		{Name: "sex", Type: domain.Categorical, Categories: []string{"f", "m"}}}}
	columns := make([][]any, 2)
	for i := range 1000 {
		gain := i * 97
		if i%20 < 14 {
			gain = 0
		} else if i%20 < 17 {
			gain = 15024
		}
		columns[0], columns[1] = append(columns[0], gain), append(columns[1], []string{"f", "m"}[i%2])
	}
	in := pipelinetest.Input{Header: header(d, 1000), Rows: pipelinetest.Rows(d, columns...)}
	for _, stage := range []pipeline.Stage{marginalTreeKind().New(), independentKind().New()} {
		m := attempt{stage: stage, in: in, multiplier: 0.3}.model(t)
		if list := string(m.listing()); !strings.Contains(list, ",15024,") || !strings.Contains(list, ",15025,") {
			t.Errorf("%T: the points of a heap are not listed:\n%s", stage, list)
		}
		counts := map[float64]int{}
		rec := drawRows(t, m, 1000)
		for i := range 1000 {
			counts[number(rec.Column(0), i)]++
		}
		for x, want := range map[float64]int{0: 700, 15024: 150} {
			if got := counts[x]; got < want-30 || got > want+30 || counts[x+1] > 10 {
				t.Errorf("%T: %g is drawn %d times and %g %d times, of 1000 rows of which %d have it", stage, x, got, x+1,
					counts[x+1], want)
			}
		}
	}
}
