package table

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// everyType is a domain with a column of each type, and a file of it in weir's own spelling.
func everyType() (*domain.Domain, string) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Numeric, Nullable: true, Missing: []string{"NA"}}, {Name: "i", Type: domain.Integer, Nullable: true},
		{Name: "d", Type: domain.Date, Format: "DD.MM.YYYY", Nullable: true}, {Name: "m", Type: domain.Datetime, Step: 1},
		{Name: "z", Type: domain.Datetime, Zone: "UTC", Step: 60, Nullable: true}, {Name: "t", Type: domain.Time, Step: 60},
		{Name: "c", Type: domain.Categorical, Categories: []string{"O'Hara", "a;b"}, Nullable: true},
		{Name: "b", Type: domain.Boolean, Categories: []string{"0", "1"}, Nullable: true}, {Name: "w", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "x", Type: domain.Text, Nullable: true},
	}}
	d.Complete()
	return d, "n,i,d,m,z,t,c,b,w,x\n" +
		"1.5,9007199254740993,29.02.2020,2019-04-30T08:00:01,2019-04-30T08:00Z,23:59,O'Hara,0,no,é\n" +
		"NA,,,1969-12-31T23:59:59,,00:00,,,yes,\n" +
		"-0.1,-7,01.01.1900,9999-12-31T00:00:00,1900-01-01T00:00Z,08:30,a;b,1,yes,\"a, \"\"b\"\"\"\n"
}

// heldRows is a reading of records.
type heldRows struct{ left []arrow.Record }

// Next implements StoredRows.
func (r *heldRows) Next() (arrow.Record, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	next := r.left[0]
	r.left = r.left[1:]
	return next, nil
}

// Close implements StoredRows.
func (*heldRows) Close() {}

// TestTypedIsReadBack: what a database is given is, read back by the same domain, the table that it was made of.
func TestTypedIsReadBack(t *testing.T) {
	d, text := everyType()
	in, err := Open(fstest.MapFS{"f.csv": {Data: []byte(text)}}, "f.csv", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	schema, rows, err := Typed(in)
	if err != nil {
		t.Fatal(err)
	}
	var held []arrow.Record
	for r, err := range rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !r.Schema().Equal(schema) {
			t.Errorf("a record of %s, must be %s", r.Schema(), schema)
		}
		held = append(held, r)
	}
	kinds := []arrow.Type{arrow.FLOAT64, arrow.INT64, arrow.DATE32, arrow.TIMESTAMP, arrow.TIMESTAMP, arrow.TIME64, arrow.STRING, arrow.BOOL, arrow.STRING, arrow.STRING}
	for i, f := range schema.Fields() {
		if f.Type.ID() != kinds[i] || f.Nullable != d.Columns[i].Nullable {
			t.Errorf("column %s is %s, nullable %v", f.Name, f.Type, f.Nullable)
		}
	}
	again, _, err := OpenStored(Stored{Name: "again", Schema: schema, Begin: func(context.Context, []int) (StoredRows, error) { return &heldRows{slices.Clone(held)}, nil }}, nil, d, "")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteText(t.Context(), &out, again, Style{}); err != nil || out.String() != text {
		t.Errorf("read back as\n%s(%v), must be\n%s", out.String(), err, text)
	}
}

// TestTypedRefuses: an encoded column, and values that the domain does not cover, quoting none.
func TestTypedRefuses(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "c", Type: domain.Categorical, Categories: []string{"a"}}, {Name: "t", Type: domain.Time, Step: 1}}}
	h := pipeline.TableHeader(d, pipeline.Header{})
	for _, cells := range [][2]int64{{7, 0}, {0, 777777}} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
		b.Field(0).(*array.Int32Builder).Append(int32(cells[0]))
		b.Field(1).(*array.Int64Builder).Append(cells[1])
		_, rows, err := Typed(pipeline.FromRecords(h, b.NewRecord()))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range rows(t.Context()) {
			if err == nil || !strings.HasPrefix(err.Error(), "column ") || strings.Contains(err.Error(), "7") {
				t.Errorf("%v: %v, must be an error that quotes nothing", cells, err)
			}
		}
	}
	h.Domain.Columns[0].Encoding = &domain.Encoding{Form: domain.OneHot, Width: 1}
	if _, _, err := Typed(pipeline.Table{Header: h}); err == nil || !strings.Contains(err.Error(), `column "c": is encoded`) {
		t.Errorf("an encoded column: %v", err)
	}
}
