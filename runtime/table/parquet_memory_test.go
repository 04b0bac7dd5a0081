package table

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline/domain"
)

// grouped is a file of rows of a number and a word, in row groups of size rows.
func grouped(t testing.TB, rows, size int) (FS, *domain.Domain) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "c", Type: arrow.BinaryTypes.String}}, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(math.MaxInt64)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < rows; at += size {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range size {
			b.Field(0).(*array.Int64Builder).Append(int64(at + i))
			b.Field(1).(*array.StringBuilder).Append([]string{"red", "blue"}[i%2])
		}
		if err := w.Write(b.NewRecord()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"f": {Data: out.Bytes()}}, &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Integer}, {Name: "c", Type: domain.Categorical, Categories: []string{"red", "blue"}}}}
}

// TestMemoryDoesNotGrowWithRowGroups: many groups of one row, and one group of all
// rows, need no more memory at a time than a few batches.
func TestMemoryDoesNotGrowWithRowGroups(t *testing.T) {
	for name, c := range map[string]struct{ rows, size int }{"tiny": {3000, 1}, "huge": {2_000_000, 2_000_000}} {
		files, d := grouped(t, c.rows, c.size)
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		table, err := Open(files, "f", nil, d)
		if err != nil {
			t.Fatal(err)
		}
		rows, peak := int64(0), uint64(0)
		for r, err := range table.Open(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			rows += r.NumRows()
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		}
		if rows != int64(c.rows) || peak > 24<<20 {
			t.Errorf("%s: %d rows with %d MiB; must be %d rows within 24 MiB", name, rows, peak>>20, c.rows)
		}
	}
}
