package table

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"weir/pipeline"
)

// subjects has a line for each format.
func subjects() map[string]subject {
	return map[string]subject{
		"csv":     {},
		"parquet": {sealed: true},
		"arrow":   {sealed: true, made: arrowBytes},
	}
}

// arrowBytes writes a table as an Arrow stream of the types in which other programs store it.
func arrowBytes(t pipeline.Table) ([]byte, error) {
	fields := make([]arrow.Field, len(t.Domain.Columns))
	columns := make([]func(arrow.Array) (arrow.Array, error), len(fields))
	for i := range fields {
		fields[i] = arrow.Field{Name: t.Domain.Columns[i].Name, Nullable: true}
		fields[i].Type, columns[i] = stored(&t.Domain.Columns[i])
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for rec, err := range t.Open(context.Background()) {
		if err != nil {
			return nil, err
		}
		arrays := make([]arrow.Array, len(columns))
		for i, convert := range columns {
			if arrays[i], err = convert(rec.Column(i)); err != nil {
				return nil, err
			}
		}
		if err := w.Write(array.NewRecord(schema, arrays, rec.NumRows())); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
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
	if len(Chosen([]string{pipeline.UsualFormats})) == 0 || len(Chosen([]string{"csv", "parquet"})) != 2 || len(Chosen([]string{"none"})) != 0 {
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
