package columns

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/pipeline"
	"weir/pipeline/domain"
)

var nan = math.NaN()

func sample(t *testing.T, rows [][3]any) pipeline.Table {
	t.Helper()
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{0, 100}},
		{Name: "sex", Type: domain.Categorical, Categories: domain.Categories{"f", "m"}},
		{Name: "note", Type: domain.Text},
	}}
	h := pipeline.TableHeader(d, pipeline.Header{})
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for _, r := range rows {
		if v, ok := r[0].(int); ok {
			b.Field(0).(*array.Int64Builder).Append(int64(v))
		} else {
			b.Field(0).AppendNull()
		}
		if v, ok := r[1].(int); ok {
			b.Field(1).(*array.Int32Builder).Append(int32(v))
		} else {
			b.Field(1).AppendNull()
		}
		b.Field(2).(*array.StringBuilder).Append("x")
	}
	rec := b.NewRecord()
	half := rec.NumRows() / 2
	return pipeline.FromRecords(h, []arrow.Record{rec.NewSlice(0, half), rec.NewSlice(half, rec.NumRows())}...)
}

func TestRead(t *testing.T) {
	f, err := Read(context.Background(), sample(t, [][3]any{{30, 0}, {nil, 1}, {41, nil}}))
	if err != nil {
		t.Fatal(err)
	}
	want := &Frame{Rows: 3, Columns: []Column{
		{Name: "age", Type: domain.Integer, Numbers: []float64{30, nan, 41}, Bounds: &[2]float64{0, 100}},
		{Name: "sex", Type: domain.Categorical, Codes: []int32{0, 1, -1}, Categories: []string{"f", "m"}},
	}, Dropped: []Drop{{"note", "is text, which has no closed set of values to compare"}}}
	if d := cmp.Diff(want, f, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
	if got := f.Columns[0].Missing() + f.Columns[1].Missing(); got != 2 {
		t.Errorf("%d missing values, want 2", got)
	}
}

func TestReadRefusesStrayCodes(t *testing.T) {
	_, err := Read(context.Background(), sample(t, [][3]any{{30, 2}}))
	if err == nil || !strings.Contains(err.Error(), "column sex: holds a code outside its 2 categories") {
		t.Errorf("error is %v", err)
	}
}

func TestReadStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, sample(t, [][3]any{{30, 0}})); err == nil {
		t.Error("a cancelled read returned a frame")
	}
}

func TestReadEmptyTable(t *testing.T) {
	f, err := Read(context.Background(), sample(t, nil))
	if err != nil || f.Rows != 0 || len(f.Columns) != 2 {
		t.Errorf("frame %v, error %v", f, err)
	}
}

func TestAlignUnitesCategoriesAndSaysWhatItDrops(t *testing.T) {
	a := &Frame{Rows: 2, Columns: []Column{
		{Name: "x", Type: domain.Numeric, Numbers: []float64{1, 2}},
		{Name: "c", Type: domain.Categorical, Codes: []int32{0, 1}, Categories: []string{"p", "q"}},
		{Name: "k", Type: domain.Boolean, Codes: []int32{0, 1}, Categories: []string{"0", "1"}},
		{Name: "only", Type: domain.Numeric, Numbers: []float64{1, 2}},
	}}
	b := &Frame{Rows: 3, Columns: []Column{
		{Name: "c", Type: domain.Categorical, Codes: []int32{0, 1, -1}, Categories: []string{"r", "p"}},
		{Name: "k", Type: domain.Integer, Numbers: []float64{0, 1, 1}},
		{Name: "x", Type: domain.Integer, Numbers: []float64{3, 4, nan}},
		{Name: "more", Type: domain.Integer, Numbers: []float64{3, 4, nan}},
	}}
	got := Align(a, b)
	categories := []string{"p", "q", "r"}
	if d := cmp.Diff([]string{"x", "c"}, got[1].Names()); d != "" {
		t.Error(d)
	}
	for i, codes := range [][]int32{{0, 1}, {2, 0, -1}} {
		if d := cmp.Diff(codes, got[i].Column("c").Codes); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(categories, got[i].Column("c").Categories); d != "" {
			t.Error(d)
		}
	}
	drops := []Drop{{"more", "is not in every table"}, {"k", "is boolean in one table and integer in another"},
		{"only", "is not in every table"}}
	if d := cmp.Diff(drops, got[0].Dropped); d != "" {
		t.Error(d)
	}
	if b.Columns[0].Codes[0] != 0 {
		t.Error("Align changed its input")
	}
}

func TestTakeAndSlice(t *testing.T) {
	f := &Frame{Rows: 3, Columns: []Column{
		{Name: "x", Type: domain.Numeric, Numbers: []float64{1, 2, 3}},
		{Name: "c", Type: domain.Categorical, Codes: []int32{0, 1, 0}, Categories: []string{"p", "q"}},
	}}
	if g := f.Take([]int{2, 0, 0}).Slice(1, 3).Select([]string{"c", "x", "absent"}); g.Rows != 2 ||
		g.Columns[1].Numbers[0] != 1 || g.Columns[0].Codes[1] != 0 || len(g.Columns) != 2 {
		t.Errorf("rows are %+v", g)
	}
}
