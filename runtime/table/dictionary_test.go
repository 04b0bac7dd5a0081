package table

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// TestSameParquetBytes: columns of more values than a dictionary holds, written 24 times.
// With a dictionary that overflows each file is one of two at even odds for each column, so
// that 24 equal ones have a chance of 2^-46.
func TestSameParquetBytes(t *testing.T) {
	const rows = 200_000
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "id", Type: domain.Integer, Bounds: &[2]float64{0, rows}},
		{Name: "free", Type: domain.Numeric, Bounds: &[2]float64{0, 1}}}}
	whole, real := array.NewInt64Builder(memory.DefaultAllocator), array.NewFloat64Builder(memory.DefaultAllocator)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range rows {
		whole.Append(int64(i))
		real.Append(rng.Float64())
	}
	r := array.NewRecord(d.ArrowSchema(), []arrow.Array{whole.NewArray(), real.NewArray()}, rows)
	table := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), r)
	var first []byte
	for n := range 24 {
		var b bytes.Buffer
		if err := writeParquet(t.Context(), &b, table); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(b.Bytes(), first) {
			t.Fatalf("file %d has other bytes than the first", n)
		}
	}
}

// TestFewValues: 0 to 131071 are 131072 values of 8 bytes, 1 MB; one more is too many.
func TestFewValues(t *testing.T) {
	bounds := func(least, most float64) *[2]float64 { return &[2]float64{least, most} }
	for _, c := range []struct {
		column domain.Column
		want   bool
	}{
		{domain.Column{Type: domain.Categorical}, true}, {domain.Column{Type: domain.Text}, false},
		{domain.Column{Type: domain.Integer}, false}, {domain.Column{Type: domain.Numeric, Bounds: bounds(0, 1)}, false},
		{domain.Column{Type: domain.Integer, Bounds: bounds(0, 131071)}, true},
		{domain.Column{Type: domain.Integer, Bounds: bounds(0, 131072)}, false},
		{domain.Column{Type: domain.Date, Bounds: bounds(-10, 10)}, true},
		{domain.Column{Type: domain.Numeric, Step: .5, Bounds: bounds(0, 60)}, true},
	} {
		if got := fewValues(&c.column); got != c.want {
			t.Errorf("%+v: %v", c.column, got)
		}
	}
}

// TestCategoriesUnderGrowing: long categories of which some do not occur, whose statistics
// Arrow makes with kernels that Growing is not for: it panicked.
func TestCategoriesUnderGrowing(t *testing.T) {
	whole := memory.DefaultAllocator
	memory.DefaultAllocator = Growing{whole}
	defer func() { memory.DefaultAllocator = whole }()
	d := &domain.Domain{Columns: []domain.Column{{Name: "cat", Type: domain.Categorical}}}
	for i := range 40 {
		d.Columns[0].Categories = append(d.Columns[0].Categories, strings.Repeat(string(rune('a'+i%26)), 1+i))
	}
	codes := array.NewInt32Builder(whole)
	for i := range int32(39) {
		codes.Append(i)
	}
	r := array.NewRecord(d.ArrowSchema(), []arrow.Array{codes.NewArray()}, 39)
	if err := writeParquet(t.Context(), io.Discard, pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), r)); err != nil {
		t.Error(err)
	}
}
