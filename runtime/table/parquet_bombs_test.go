package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline/domain"
)

// bomb is a file that make.py wrote of long texts: what each row holds, in how many
// rows, and the refusal of what is not read.
type bomb struct {
	letter  string
	length  func(row int) int
	rows    int
	refused string
}

func bombs() map[string]bomb {
	return map[string]bomb{
		"one-word": {"a", func(int) int { return 30000 }, 60000, ""},
		"prefixes": {"a", func(row int) int { return row }, 60000, "long texts that repeat each other"},
		"growing":  {"a", func(row int) int { return row }, 10000, ""},
		"alike":    {"b", func(int) int { return 200 }, 500000, ""},
	}
}

// live returns the heap that is in use, and what was allocated until now.
func live() (heap, all int64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.TotalAlloc)
}

// TestBombsOfTexts: files of a few kilobytes that stand for gigabytes of text are read,
// or refused, in 128 MiB: 32 MiB of texts as they are stored, as many as the domain has
// them, and what growing buffers leave. From one record to the next no more than 384 MiB
// are allocated.
func TestBombsOfTexts(t *testing.T) {
	for name, b := range bombs() {
		data, err := os.ReadFile(filepath.Join("testdata/parquet/bombs", name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		table, err := Open(fstest.MapFS{"f": {Data: data}}, "f", nil,
			&domain.Domain{Columns: []domain.Column{{Name: "s", Type: domain.Text, Nullable: true}}})
		if err != nil {
			t.Fatal(err)
		}
		rows, refusal := 0, error(nil)
		before, last := live()
		for r, err := range table.Open(t.Context()) {
			heap, all := live()
			if heap-before > 128<<20 || all-last > 384<<20 {
				t.Fatalf("%s: %d MiB live and %d MiB allocated for %d bytes, must be 128 and 384", name, (heap-before)>>20,
					(all-last)>>20, len(data))
			}
			if last = all; err != nil {
				refusal = err
				break
			}
			checkTexts(t, name, r.Column(0).(*array.String), rows, b.letter, b.length)
			rows += int(r.NumRows())
		}
		if b.refused == "" && (refusal != nil || rows != b.rows) {
			t.Errorf("%s: %d rows and %v, must be %d", name, rows, refusal, b.rows)
		}
		if b.refused != "" && (refusal == nil || !strings.Contains(refusal.Error(), b.refused)) {
			t.Errorf("%s: %v, must say %s", name, refusal, b.refused)
		}
	}
}

func checkTexts(t *testing.T, name string, texts *array.String, first int, letter string, length func(int) int) {
	t.Helper()
	for i := range texts.Len() {
		if v := texts.Value(i); len(v) != length(first+i) || strings.Count(v, letter) != len(v) {
			t.Fatalf("%s: row %d has %d bytes, must be %d times %s", name, first+i, len(v), length(first+i), letter)
		}
	}
}

// longTexts returns a file of 6,000 rows in groups of 1,700: their number, a text of 20 kB
// from a dictionary, one of up to 20 kB that is missing in every third row, in pages: of
// these a column may keep a third of 32 MiB, so that the others are ahead of it.
func longTexts(t *testing.T) (data []byte, rows []string) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "d", Type: arrow.BinaryTypes.String},
		{Name: "p", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 6000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat(string(rune('a'+i%7)), 20000))
		if i%3 == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.StringBuilder).Append(strings.Repeat(string(rune('A'+i%11)), 1+i*37%20000))
		}
	}
	all := b.NewRecord()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithDictionaryFor("p", false), parquet.WithDataPageSize(1<<16),
		parquet.WithMaxRowGroupLength(1700))
	w, err := pqarrow.NewFileWriter(schema, &out, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < all.NumRows(); at += 1700 {
		if err := w.Write(all.NewSlice(at, min(at+1700, all.NumRows()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), spelledRows(all)
}

// TestCutBatchesHaveEveryRow: where texts are long, records are short, of 32 MiB of
// text, and together they are the file.
func TestCutBatchesHaveEveryRow(t *testing.T) {
	data, want := longTexts(t)
	d := &domain.Domain{Columns: []domain.Column{{Name: "n", Type: domain.Integer}, {Name: "d", Type: domain.Text},
		{Name: "p", Type: domain.Text, Nullable: true}}}
	for _, batch := range []int{0, 1000} {
		table, err := openWith(fstest.MapFS{"f": {Data: data}}, "f", nil, d, options{BatchRows: batch})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for r, err := range table.Open(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			size := len(r.Column(1).Data().Buffers()[2].Bytes()) + len(r.Column(2).Data().Buffers()[2].Bytes())
			if size > 32<<20 {
				t.Errorf("a record of %d bytes of text, must be at most 32 MiB", size)
			}
			for _, row := range spelledRows(r) {
				if at == len(want) || row != want[at] {
					t.Fatalf("row %d differs", at)
				}
				at++
			}
		}
		if at != len(want) {
			t.Errorf("%d rows, must be %d", at, len(want))
		}
	}
}

// TestManyColumnsMakeShortBatches: constant columns cost a file nothing and a batch 8
// bytes a cell; a batch has at most 4 Mi cells: 20,971 rows of 200 columns.
func TestManyColumnsMakeShortBatches(t *testing.T) {
	const columns, rows = 200, 30_000
	fields, d := make([]arrow.Field, columns), &domain.Domain{}
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.PrimitiveTypes.Int64}
		d.Columns = append(d.Columns, domain.Column{Name: fields[i].Name, Type: domain.Integer})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range fields {
		b.Field(i).(*array.Int64Builder).AppendValues(make([]int64, rows), nil)
	}
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(b.Schema(), &out, nil, pqarrow.DefaultWriterProps())
	if err == nil {
		err = errors.Join(w.Write(b.NewRecord()), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(fstest.MapFS{"f": {Data: out.Bytes()}}, "f", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for r, err := range table.Open(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.NumRows())
	}
	if !slices.Equal(got, []int64{20_971, 9_029}) {
		t.Errorf("records of %v rows, must be 20971 and 9029", got)
	}
}

// TestPagesAreLetGo: 64 texts of 8 MiB in pages that are compressed to nothing, 512 MiB,
// are held in part, within the 128 MiB of the other bombs.
func TestPagesAreLetGo(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator,
		arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil))
	for range 4 {
		b.Field(0).(*array.StringBuilder).Append(strings.Repeat("a", 8<<20))
	}
	four := b.NewRecord()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithDictionaryDefault(false),
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithStats(false))
	w, err := pqarrow.NewFileWriter(four.Schema(), &out, props, pqarrow.DefaultWriterProps())
	for range 16 {
		err = errors.Join(err, w.Write(four))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	table, err := Open(fstest.MapFS{"f": {Data: out.Bytes()}}, "f", nil,
		&domain.Domain{Columns: []domain.Column{{Name: "s", Type: domain.Text}}})
	if err != nil {
		t.Fatal(err)
	}
	rows, most := int64(0), int64(0)
	before, _ := live()
	for r, err := range table.Open(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		heap, _ := live()
		rows, most = rows+r.NumRows(), max(most, heap-before)
	}
	if rows != 64 || most > 128<<20 {
		t.Errorf("%d rows in %d MiB, must be 64 in 128", rows, most>>20)
	}
}

// grouped returns a file of rows of a number and a word, in row groups of size rows.
func grouped(t testing.TB, rows, size int) (FS, *domain.Domain) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "c", Type: arrow.BinaryTypes.String}}, nil)
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(math.MaxInt64))
	w, err := pqarrow.NewFileWriter(schema, &out, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for first := 0; first < rows; first += size {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range size {
			b.Field(0).(*array.Int64Builder).Append(int64(first + i))
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
		var before, after runtime.MemStats
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
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc))
		}
		if rows != int64(c.rows) || peak > 24<<20 {
			t.Errorf("%s: %d rows with %d MiB; must be %d rows within 24 MiB", name, rows, peak>>20, c.rows)
		}
	}
}
