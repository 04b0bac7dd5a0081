package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// subjects has a line for each format.
func subjects() map[string]subject {
	return map[string]subject{
		"csv":     {},
		"parquet": {sealed: true},
		"arrow":   {sealed: true, made: arrowBytes},
		"xlsx":    {sealed: true, made: excelBytes},
	}
}

// arrowBytes writes a table as an Arrow stream of the types in which other programs store it.
func arrowBytes(t pipeline.Table) ([]byte, error) {
	fields := make([]arrow.Field, len(t.Domain.Columns))
	for i := range fields {
		fields[i] = arrow.Field{Name: t.Domain.Columns[i].Name, Type: storedColumn(&t.Domain.Columns[i]).kind, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for rec, err := range t.Open(context.Background()) {
		if err != nil {
			return nil, err
		}
		arrays := make([]arrow.Array, len(fields))
		for i := range fields {
			arrays[i] = asStored(fields[i].Type, &t.Domain.Columns[i], rec.Column(i))
		}
		if err := w.Write(array.NewRecord(schema, arrays, rec.NumRows())); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// asStored returns a column of a table as one of another type.
func asStored(kind arrow.DataType, c *domain.Column, a arrow.Array) arrow.Array {
	if arrow.TypeEqual(kind, a.DataType()) {
		return a
	}
	b := array.NewBuilder(memory.DefaultAllocator, kind)
	for i := range a.Len() {
		if a.IsNull(i) || codesMissing(c, a, i) {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.BooleanBuilder:
			b.Append(a.(*array.Int32).Value(i) == 1)
		case *array.Date32Builder:
			b.Append(arrow.Date32(a.(*array.Int64).Value(i)))
		case *array.BinaryDictionaryBuilder:
			if err := b.AppendString(categories(c)[a.(*array.Int32).Value(i)]); err != nil {
				panic(err)
			}
		}
	}
	return b.NewArray()
}

// TestEveryFormat holds each format to what Format and Writer promise; one without a line in subjects is a red build.
func TestEveryFormat(t *testing.T) {
	cases := subjects()
	for _, f := range formats() {
		one, ok := cases[f.Name()]
		if !ok {
			t.Errorf("%s: has no line in subjects", f.Name())
			continue
		}
		for _, fault := range faults(t, f, one) {
			t.Errorf("%s: %s", f.Name(), fault)
		}
	}
}

// TestFormatsMeet: a name and an ending mean one format, and results are written in some.
func TestFormatsMeet(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range formats() {
		words := []string{f.Name()}
		if w, ok := f.(Writer); ok {
			words = append(words, w.Endings()...)
		}
		for _, word := range words {
			if seen[word] {
				t.Errorf("%s means two formats", word)
			}
			seen[word] = true
		}
	}
	if len(Chosen([]string{pipeline.UsualFormats})) == 0 || len(Chosen([]string{"csv", "parquet"})) != 2 ||
		len(Chosen([]string{"none"})) != 0 {
		t.Error("the usual formats, or named ones, are not found")
	}
	if all := Endings(); !strings.HasPrefix(all, ".csv, .tsv, ") && !strings.HasPrefix(all, ".csv, .tsv or ") {
		t.Errorf("endings are %s", all)
	}
}

// writeText and writeParquet write as runs do.
func writeText(ctx context.Context, w io.Writer, t pipeline.Table, csv *pipeline.CSV) error {
	return textFormat{}.Write(ctx, w, "", t, Style{CSV: csv})
}

func writeParquet(ctx context.Context, w io.Writer, t pipeline.Table) error {
	return parquetFormat{}.Write(ctx, w, "", t, Style{})
}

// TestCellsAreSpelledAlike: 6,000 values of each column, in two batches, some of one place of spelt, some longer than
// it keeps, come out as strconv spells them, the first time and the second: 0 and -0, quotes, a list that is missing.
func TestCellsAreSpelledAlike(t *testing.T) {
	long := "more than twenty-three bytes"
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "whole", Type: domain.Integer},
		{Name: "free", Type: domain.Numeric},
		{Name: "name", Type: domain.Categorical, Nullable: true, Categories: []string{"=a", `b"`, long}},
	}}
	names := []string{"'=a", `"b"""`, long, ""}
	var want strings.Builder
	want.WriteString("whole,free,name\n")
	read := strings.Builder{}
	read.WriteString("whole,free,name\n")
	for i := range 6000 {
		k := i % 3000
		x := math.Copysign(float64(k)/7, float64(1-k%2*2))
		fmt.Fprintf(&want, "%d,%s,%s\n", k*k-9, strconv.FormatFloat(x, 'f', -1, 64), names[i%4])
		fmt.Fprintf(&read, "%d,%s,%s\n", k*k-9, strconv.FormatFloat(x, 'g', -1, 64), []string{"=a", `"b"""`, long, ""}[i%4])
	}
	rows := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}),
		reread(t, "in.csv", []byte(read.String()), nil, d))
	for _, table := range []pipeline.Table{rows, halved(t, rows)} {
		var got bytes.Buffer
		if err := (textFormat{}).Write(t.Context(), &got, "out.csv", table, Style{Spreadsheet: true}); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			place := 0
			for place < min(got.Len(), want.Len()) && got.Bytes()[place] == want.String()[place] {
				place++
			}
			t.Errorf("differs at byte %d: %.60q, must be %.60q", place, got.Bytes()[place:], want.String()[place:])
		}
	}
}

// halved returns a table in two batches.
func halved(t *testing.T, table pipeline.Table) pipeline.Table {
	rec := all(t, table)
	half := rec.NumRows() / 2
	return pipeline.FromRecords(table.Header, rec.NewSlice(0, half), rec.NewSlice(half, rec.NumRows()))
}
