package columns

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// mixed has a column of each type; row i of a batch has the given values, nil is null.
func mixed(batches ...[][]any) pipeline.Table {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{17, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: .5, Nullable: true},
		{Name: "region", Type: domain.Categorical, Categories: []string{"a", "b", "c"}, Nullable: true},
	}}
	h := pipeline.TableHeader(d, pipeline.Header{Rows: 2})
	var records []arrow.Record
	for _, rows := range batches {
		build := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
		for _, row := range rows {
			for i, v := range row {
				switch b := build.Field(i).(type) {
				case *array.Int64Builder:
					appendAny(b, v)
				case *array.Float64Builder:
					appendAny(b, v)
				case *array.Int32Builder:
					appendAny(b, v)
				}
			}
		}
		records = append(records, build.NewRecord())
	}
	return pipeline.FromRecords(h, records...)
}

func appendAny[T any](b interface {
	Append(T)
	AppendNull()
}, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	b.Append(v.(T))
}

func gridsOf(t *testing.T, d *domain.Domain) (list []Grid) {
	t.Helper()
	for _, c := range d.Columns {
		list = append(list, gridOf(t, c))
	}
	return list
}

// TestReadCodes: values of every type become cells, over batches, in the order of the grids: on the
// grid, off it, outside the bounds, infinite, NaN and null.
func TestReadCodes(t *testing.T) {
	table := mixed(
		[][]any{{int64(17), 30., int32(0)}, {int64(90), 200., nil}, {int64(math.MinInt64), math.Inf(-1), int32(2)}},
		[][]any{},
		[][]any{{int64(math.MaxInt64), math.NaN(), int32(1)}, {int64(40), nil, int32(1)}, {int64(41), 30.7, nil},
			{int64(42), 1e300, nil}})
	grids := gridsOf(t, table.Domain)
	got, err := ReadCodes(t.Context(), table, []Grid{grids[2], grids[0], grids[1]})
	want := &Codes{Rows: 7, Sizes: []int{4, 74, 342}, Within: make([][]uint8, 3),
		Columns: [][]uint16{{0, 3, 2, 1, 1, 3, 3}, {0, 73, 0, 73, 23, 24, 25}, {0, 340, 0, 341, 341, 1, 340}}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestReadCodesRefuses: what a column cannot hold is an error that names the column and no value.
func TestReadCodesRefuses(t *testing.T) {
	good := []any{int64(20), 50., int32(1)}
	for want, table := range map[string]pipeline.Table{
		"column age: holds missing values, must hold none or be nullable in the domain": mixed([][]any{good,
			{nil, 50., int32(1)}}),
		"column region: holds a code outside its 3 categories": mixed([][]any{good,
			{int64(20), 50., int32(777)}}),
	} {
		if _, err := ReadCodes(t.Context(), table, gridsOf(t, table.Domain)); err == nil || err.Error() != want {
			t.Errorf("error %v, must be %s", err, want)
		}
	}
	table := mixed([][]any{good})
	for want, c := range map[string]domain.Column{
		"column height: is 0 times in the table, must be there once": {Name: "height", Type: domain.Boolean},
		"column age: is of Arrow type int64, must be float64": {Name: "age", Type: domain.Numeric,
			Bounds: &[2]float64{0, 9}},
		"column age: is of Arrow type int64, must be int32": {Name: "age", Type: domain.Boolean},
		"column weight: is of Arrow type float64, must be int64": {Name: "weight", Type: domain.Date,
			Bounds: &[2]float64{0, 9}},
		"column region: is of Arrow type int32, must be int64": {Name: "region", Type: domain.Integer,
			Bounds: &[2]float64{0, 9}},
		"column weight: holds missing values, must hold none or be nu": {Name: "weight", Type: domain.Numeric,
			Bounds: &[2]float64{0, 9}},
	} {
		if strings.HasSuffix(want, "be nu") {
			table = mixed([][]any{{int64(20), math.NaN(), int32(1)}})
		}
		if _, err := ReadCodes(t.Context(), table, []Grid{gridOf(t, c)}); err == nil || !strings.HasPrefix(err.Error(),
			want) {
			t.Errorf("error %v, must be %s", err, want)
		}
		table = mixed([][]any{good})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadCodes(ctx, table, nil); err == nil {
		t.Error("a cancelled reading ended well")
	}
}

// TestAppendIsTheInverse: what cells become reads back as the same cells, in the column's type, from columns of
// every kind, missing values included.
func TestAppendIsTheInverse(t *testing.T) {
	inverse := func(c domain.Column) {
		g, rng := gridOf(t, c), rand.New(rand.NewPCG(3, 3))
		cells := make([]uint16, 3000)
		for i := range cells {
			cells[i] = uint16(rng.IntN(g.Cells()))
		}
		h := pipeline.TableHeader(&domain.Domain{Columns: []domain.Column{c}}, pipeline.Header{})
		b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
		if err := g.Append(b.Field(0), cells, rng); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCodes(t.Context(), pipeline.FromRecords(h, b.NewRecord()), []Grid{g})
		if d := cmp.Diff([][]uint16{cells}, got.Columns); d != "" || err != nil {
			t.Errorf("%+v: %s, error %v", c, d, err)
		}
	}
	for _, null := range []bool{false, true} {
		for _, c := range []domain.Column{
			{Type: domain.Ordinal, Categories: []string{"a", "b"}}, {Type: domain.Boolean},
			bounded(domain.Integer, -3, 1e9, 0), bounded(domain.Integer, -3, 90, 4), bounded(domain.Date, -9e15, 9e15, 0),
			bounded(domain.Numeric, 0, 99.9, .1), bounded(domain.Numeric, -1, 1e6, .3), bounded(domain.Numeric, -1, 1e6, 0),
		} {
			c.Name, c.Nullable = "x", null
			inverse(c)
		}
	}
	g := gridOf(t, domain.Column{Name: "x", Type: domain.Boolean})
	b := array.NewInt32Builder(memory.DefaultAllocator)
	if err := g.Append(b, []uint16{0, 2}, nil); err == nil || b.Len() != 0 ||
		err.Error() != "column x: holds cell 2, must be below 2" {
		t.Errorf("error %v, %d values", err, b.Len())
	}
	if err := g.Append(array.NewInt64Builder(memory.DefaultAllocator), []uint16{0}, nil); err == nil ||
		err.Error() != "column x: goes to a builder of Arrow type int64, must be int32" {
		t.Errorf("error %v", err)
	}
}

// TestValueIsUniform: each point of a cell is drawn alike, the last one of a short cell too: 30,000 draws of
// three cells by chi-square at 1e-6. A cell without its last point is rejected.
func TestValueIsUniform(t *testing.T) {
	g, rng := gridOf(t, bounded(domain.Integer, 0, 7*65536-3, 0)), rand.New(rand.NewPCG(4, 4))
	for _, cell := range []int{0, 5, g.Values() - 1} {
		least, greatest := g.Interval(cell)
		n := int(greatest-least) + 1
		counts, alike := make([]int, n), make([]float64, n)
		for i := range alike {
			alike[i] = 1 / float64(n)
		}
		for range 30000 {
			counts[int(g.Value(cell, rng)-least)]++
		}
		if p := stattest.ChiSquare(counts, alike, 30000); p < 1e-6 {
			t.Errorf("cell %d: %v, p %v", cell, counts, p)
		}
		counts[0], counts[n-1] = counts[0]+counts[n-1], 0
		if p := stattest.ChiSquare(counts, alike, 30000); p >= 1e-6 {
			t.Errorf("cell %d: %v passes, p %v", cell, counts, p)
		}
	}
	if !math.IsNaN(g.Value(g.Values(), rng)) {
		t.Error("missing has a value")
	}
}

// TestPointsWithinCells: where a cell has several points, which one a value is comes
// back beside its cell, and known shares say which one is drawn.
func TestPointsWithinCells(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "gain", Type: domain.Integer, Bounds: &[2]float64{0, 99999},
		Nullable: true}}}
	in := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}),
		pipelinetest.Rows(d, []any{0, 1, 7688, 99999, nil}))
	g, err := GridOf(d.Columns[0])
	if err != nil || g.Points() != 2 || !g.HasInnerCounts() || g.Values() != 50_000 || g.PointsIn(49_999) != 2 {
		t.Fatalf("%d points a cell, told %v, %d cells: %v", g.Points(), g.HasInnerCounts(), g.Values(), err)
	}
	c, err := ReadCodes(t.Context(), in, []Grid{g})
	if err != nil || fmt.Sprint(c.Columns, c.Within) != "[[0 0 3844 49999 50000]] [[0 1 0 1 0]]" {
		t.Errorf("%v, %v", c, err)
	}
	g = g.Shared(map[int][]float64{0: {3, 1}, 3844: {0, 5}})
	rng, zeros := rand.New(rand.NewPCG(1, 2)), 0
	for range 4000 {
		if g.Value(0, rng) == 0 {
			zeros++
		}
		if x := g.Value(3844, rng); x != 7689 {
			t.Fatalf("%g is drawn, whose share is 0", x)
		}
	}
	if zeros < 2860 || zeros > 3140 { // 3000 +- 5 standard deviations of 27
		t.Errorf("%d of 4000 values are 0, whose share is 3/4", zeros)
	}
}
