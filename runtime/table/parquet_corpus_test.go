package table

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// corpusDomain returns the domain of testdata/parquet/rows.csv; make.py says what is in it.
func corpusDomain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "id", Type: domain.Integer}, {Name: "age", Type: domain.Integer, Nullable: true},
		{Name: "x", Type: domain.Numeric, Nullable: true}, {Name: "f", Type: domain.Numeric},
		{Name: "word", Type: domain.Categorical, Categories: []string{"red", "green", "blue", "grey, pale", `so "called"`},
			Nullable: true},
		{Name: "note", Type: domain.Text, Nullable: true}, {Name: "yes", Type: domain.Boolean, Nullable: true},
		{Name: "day", Type: domain.Date, Nullable: true},
	}}
}

// refusedFiles returns those that are not read, and what they are named as.
func refusedFiles() map[string]string {
	return map[string]string{
		"duckdb-encrypted":          "is encrypted Parquet",
		"pyarrow-encrypted":         "is encrypted Parquet",
		"pyarrow-encrypted-columns": "is encrypted Parquet",
		"spark-hadoop-lz4":          "LZ4 as Hadoop writes it",
		"pyarrow-timestamp":         `column "age": is stored as timestamp`,
	}
}

func corpus(t testing.TB) (fstest.MapFS, []string) {
	t.Helper()
	return filesOf(t, "testdata/parquet/*.parquet", 40)
}

// filesOf reads the files of a corpus, which has at least so many.
func filesOf(t testing.TB, pattern string, least int) (files fstest.MapFS, names []string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatal(len(paths), err)
	}
	files = fstest.MapFS{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		files[name] = &fstest.MapFile{Data: data}
		names = append(names, name)
	}
	return files, names
}

// cellsOf spells the cells of a table, missing ones as "-".
func cellsOf(t testing.TB, table pipeline.Table) (rows []string) {
	t.Helper()
	for r, err := range table.Open(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, spelledRows(r)...)
	}
	return rows
}

func spelledRows(r arrow.Record) (rows []string) {
	for i := range int(r.NumRows()) {
		var b strings.Builder
		for _, c := range r.Columns() {
			if c.IsNull(i) {
				b.WriteString("-|")
			} else {
				b.WriteString(c.ValueStr(i) + "|")
			}
		}
		rows = append(rows, b.String())
	}
	return rows
}

// TestParquetOfOthers compares every cell of every file with what make.py wrote to
// rows.csv beside it, whatever the batches are.
func TestParquetOfOthers(t *testing.T) {
	files, names := corpus(t)
	text, err := os.ReadFile("testdata/parquet/rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	files["rows.csv"] = &fstest.MapFile{Data: text}
	expected, err := Open(files, "rows.csv", nil, corpusDomain())
	if err != nil {
		t.Fatal(err)
	}
	all := cellsOf(t, expected)
	for _, name := range names {
		short := strings.TrimSuffix(name, ".parquet")
		for _, batch := range []int{0, 64, 1000} {
			if nestedSchema(short) || refusedFiles()[short] != "" {
				continue
			}
			want := all[:rowsOf(short)]
			table, err := openWith(files, name, nil, corpusDomain(), options{BatchRows: batch})
			if err != nil {
				t.Error(err)
				continue
			}
			got := cellsOf(t, table)
			if len(got) != len(want) {
				t.Errorf("%s: %d rows, must be %d", name, len(got), len(want))
				continue
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s: row %d is %s, must be %s", name, i, got[i], want[i])
					break
				}
			}
		}
	}
}

func nestedSchema(name string) bool {
	return name == "pyarrow-list" || name == "pyarrow-struct" || name == "pyarrow-map"
}

// rowsOf returns how many rows make.py gave a file.
func rowsOf(name string) int {
	switch {
	case strings.HasSuffix(name, "zero-rows"):
		return 0
	case strings.HasSuffix(name, "-groups") && name != "pyarrow-tiny-groups", strings.HasPrefix(name, "duckdb-"),
		name == "pyarrow-dictionary-overflows":
		return 4200
	}
	return 300
}

// TestParquetIsNamedForWhatItIs: what is not read says what it is.
func TestParquetIsNamedForWhatItIs(t *testing.T) {
	files, _ := corpus(t)
	for name, want := range refusedFiles() {
		_, err := Open(files, name+".parquet", nil, corpusDomain()) // early: before anything is charged
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %q", name, err, want)
		}
	}
}

// TestNestedColumnsMayBeIgnored: beside nested columns, plain ones are read.
func TestNestedColumnsMayBeIgnored(t *testing.T) {
	files, _ := corpus(t)
	d := &domain.Domain{Columns: []domain.Column{{Name: "id", Type: domain.Integer}}}
	both := &domain.Domain{Columns: []domain.Column{{Name: "id", Type: domain.Integer},
		{Name: "nested", Type: domain.Integer}}}
	for _, name := range []string{"pyarrow-list.parquet", "pyarrow-struct.parquet", "pyarrow-map.parquet"} {
		table, err := Open(files, name, &pipeline.CSV{Extra: "ignore"}, d)
		if err != nil {
			t.Fatal(err)
		}
		if rows := cellsOf(t, table); len(rows) != 300 || rows[299] != fmt.Sprint(1000+3*299, "|") {
			t.Errorf("%s: %d rows", name, len(rows))
		}
		if _, err := Open(files, name, nil, both); err == nil ||
			!strings.Contains(err.Error(), `column "nested": is stored as`) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Open(files, name, nil, d); err == nil ||
			!strings.Contains(err.Error(), "column 2 of the file is stored as") || strings.Contains(err.Error(), "nested") {
			t.Errorf("%s: %v, must tell a column that is not read by its place alone", name, err)
		}
		raw, err := OpenRaw(t.Context(), files, name, nil)
		if err != nil || len(raw.Names) != 1 || len(raw.Unread) != 1 || raw.Unread[0].Name != "nested" ||
			raw.Unread[0].Place != 2 {
			t.Errorf("%s: %+v, %v, must name the column that is not read", name, raw, err)
		}
	}
}

// TestParquetRowsAreCounted: a chunk that ends early, an index that promises other
// rows, is never a shorter table.
func TestParquetRowsAreCounted(t *testing.T) {
	files, _ := corpus(t)
	data := files["pyarrow-plain.parquet"].Data
	for place := 0; place < len(data)-8; place += 7 {
		changed := bytes.Clone(data)
		changed[place] ^= 0x15
		rows, err := rowsRead(fstest.MapFS{"f": {Data: changed}})
		if err == nil && rows != 300 {
			t.Fatalf("byte %d: %d rows and no error, must be 300", place, rows)
		}
	}
}

// rowsRead reads a file as the corpus' domain.
func rowsRead(files FS) (rows int64, err error) {
	d := corpusDomain()
	for i := range d.Columns {
		d.Columns[i].Nullable = true
	}
	table, err := Open(files, "f", &pipeline.CSV{Unknown: "missing"}, d)
	if err != nil {
		return 0, err
	}
	for r, err := range table.Open(context.Background()) {
		if err != nil {
			return rows, err
		}
		rows += r.NumRows()
	}
	return rows, nil
}

// TestDeltasOfTheLibrary: numbers of every width, and texts, as Arrow 15 writes them
// in delta encodings, come back. (Its DELTA_BYTE_ARRAY is wrong: Arrow C++ refuses it
// too. The corpus has pages of other writers.)
func TestDeltasOfTheLibrary(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "a", Type: arrow.BinaryTypes.String}}, nil)
	rng, build := rand.New(rand.NewPCG(2, 11)), array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 5000 {
		n := rng.Int64() >> (i / 80 % 64) * int64(1-i%3)
		if i%500 == 0 {
			n = []int64{math.MinInt64, math.MaxInt64}[i/500%2]
		}
		text := strings.Repeat("ab", rng.IntN(9)) + strings.Repeat("c", rng.IntN(3))
		build.Field(0).(*array.Int64Builder).Append(n)
		build.Field(1).(*array.StringBuilder).Append(text + "x")
	}
	want := build.NewRecord()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithDictionaryDefault(false),
		parquet.WithEncodingFor("n", parquet.Encodings.DeltaBinaryPacked),
		parquet.WithEncodingFor("a", parquet.Encodings.DeltaLengthByteArray), parquet.WithDataPageSize(4000))
	w, err := pqarrow.NewFileWriter(schema, &out, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "n", Type: domain.Integer}, {Name: "a", Type: domain.Text}}}
	for _, batch := range []int{0, 77} {
		table, err := openWith(fstest.MapFS{"f": {Data: out.Bytes()}}, "f", nil, d, options{BatchRows: batch})
		if err != nil {
			t.Fatal(err)
		}
		rows := spelledRows(want)
		for i, got := range cellsOf(t, table) {
			if got != rows[i] {
				t.Fatalf("row %d is %s, must be %s", i, got, rows[i])
			}
		}
	}
}
