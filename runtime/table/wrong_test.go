package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// wrongFormat is the Parquet format but for what a function does otherwise.
type wrongFormat struct {
	parquetFormat
	name    string
	unknown bool
	ending  string
	in      func(*input)
	rows    func(context.Context, rowReader) pipeline.Batches
	opening func(error) error
	noNames bool
	write   func(context.Context, io.Writer, pipeline.Table) error
}

func (w wrongFormat) Name() string {
	if w.name != "" {
		return w.name
	}
	return w.parquetFormat.Name()
}

func (w wrongFormat) Begins(head []byte) bool { return !w.unknown && w.parquetFormat.Begins(head) }

func (w wrongFormat) Endings() []string {
	if w.ending != "" {
		return []string{w.ending}
	}
	return w.parquetFormat.Endings()
}

func (w wrongFormat) open(in *input) (rowReader, error) {
	if w.in != nil {
		w.in(in)
	}
	read, err := w.parquetFormat.open(in)
	if err != nil && w.opening != nil {
		read, err = func(context.Context) pipeline.Batches { return func(func(arrow.Record, error) bool) {} }, w.opening(err)
	}
	if err != nil || w.rows == nil {
		return read, err
	}
	return func(ctx context.Context) pipeline.Batches { return w.rows(ctx, read) }, nil
}

func (w wrongFormat) raw(ctx context.Context, in *input) (*Raw, error) {
	raw, err := w.parquetFormat.raw(ctx, in)
	if w.noNames && err == nil {
		raw.Names = nil
	}
	return raw, err
}

func (w wrongFormat) Write(ctx context.Context, out io.Writer, name string, t pipeline.Table, s Style) error {
	if w.write != nil {
		return w.write(ctx, out, t)
	}
	return w.parquetFormat.Write(ctx, out, name, t, s)
}

// each changes the records and errors of a reading; a record that becomes nil is left out.
func each(read rowReader, ctx context.Context, change func(arrow.Record, error) (arrow.Record,
	error)) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		for rec, err := range read(ctx) {
			if rec, err = change(rec, err); (rec != nil || err != nil) && !yield(rec, err) {
				return
			}
		}
	}
}

// changed returns a format whose records and errors are changed as they are read.
func changed(change func(arrow.Record, error) (arrow.Record, error)) wrongFormat {
	return wrongFormat{rows: func(ctx context.Context, read rowReader) pipeline.Batches { return each(read, ctx, change) }}
}

// wrongs lists broken formats by what the conformance test must say of them.
func wrongs() map[string]wrongFormat {
	count := 0
	telling := func(err error) error { return fmt.Errorf("%s: %w", canary, err) }
	return map[string]wrongFormat{
		"has the name":             {name: "Parquet 2"},
		"does not know a file":     {unknown: true},
		"is asked for by":          {ending: ".pq"},
		"is not what a name":       {ending: ".csv"},
		"loses the name of a unit": {in: func(in *input) { in.dialect.unit = "" }},
		"a file of other columns":  {opening: telling},
		"without a domain":         {noNames: true},
		"reads other rows": changed(func(rec arrow.Record, err error) (arrow.Record, error) {
			return shorter(rec),
				err
		}),
		"cell outside of the domain": changed(func(rec arrow.Record, err error) (arrow.Record, error) {
			if err != nil {
				err = telling(err)
			}
			return rec, err
		}),
		"for a whole file": {opening: func(error) error { return nil }},
		"after its context has ended": {rows: func(_ context.Context, read rowReader) pipeline.Batches {
			return read(context.Background())
		}},
		"equal rows as other bytes": {write: func(ctx context.Context, w io.Writer, t pipeline.Table) error {
			count++
			return writeText(ctx, io.MultiWriter(w), t, &pipeline.CSV{Quote: []string{"'", "`"}[count%2]})
		}},
		"without rows": {write: func(ctx context.Context, w io.Writer, t pipeline.Table) error {
			var out bytes.Buffer
			if rec, err := t.Collect(ctx); err != nil || rec.NumRows() == 0 {
				return err
			}
			err := writeParquet(ctx, &out, t)
			w.Write(out.Bytes())
			return err
		}},
		"a disk that is full": {write: func(ctx context.Context, w io.Writer, t pipeline.Table) error {
			var out bytes.Buffer
			err := writeParquet(ctx, &out, t)
			w.Write(out.Bytes())
			return err
		}},
		"rows that cannot be read": {write: func(ctx context.Context, w io.Writer, t pipeline.Table) error {
			t.Open = func(ctx context.Context) pipeline.Batches {
				return each(t.Open, ctx, func(rec arrow.Record, _ error) (arrow.Record, error) { return rec, nil })
			}
			return nil
		}},
	}
}

func shorter(rec arrow.Record) arrow.Record {
	if rec == nil {
		return nil
	}
	return rec.NewSlice(1, rec.NumRows())
}

// TestConformanceFindsWrongFormats: the test is of use.
func TestConformanceFindsWrongFormats(t *testing.T) {
	for want, w := range wrongs() {
		found := faults(t, w, subject{sealed: true})
		if !slices.ContainsFunc(found, func(fault string) bool { return strings.Contains(fault, want) }) {
			t.Errorf("%q is not found; found were %q", want, found)
		}
	}
}
