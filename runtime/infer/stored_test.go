package infer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime/table"
)

// TestStoredDraftsReadTheirFiles: a decided draft reads the file that it was made from,
// whatever the columns are stored as.
func TestStoredDraftsReadTheirFiles(t *testing.T) {
	files := fstest.MapFS{"nothing.arrows": {Data: nothing(t)}}
	for _, name := range []string{"arrow/polars.arrow", "arrow/polars.arrows", "arrow/polars-categorical.arrow",
		"arrow/polars-text.arrow", "arrow/polars-text.arrows",
		"arrow/pyarrow-text.arrow", "arrow/pyarrow-views.arrows", "arrow/pyarrow-other-types.arrow",
		"arrow/duckdb-views.arrows", "parquet/polars-zstd.parquet", "parquet/pyarrow-other-types.parquet"} {
		data, err := os.ReadFile(filepath.Join("../table/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	for name := range files {
		out, err := Draft(t.Context(), Files(files, table.One(name)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if name != "nothing.arrows" && !strings.Contains(string(out.Domain), "name: \"day\"\n    type: date") {
			t.Errorf("%s: day is no date:\n%s", name, out.Domain)
		}
		reads(t, files, name, out, 300)
	}
}

// TestStoredTimesReadTheirFiles: a decided draft of timestamps, times of day and decimals reads its file.
func TestStoredTimesReadTheirFiles(t *testing.T) {
	for _, name := range []string{"pyarrow.parquet", "pyarrow.arrow", "pyarrow-milliseconds.arrows",
		"pyarrow-integers.parquet", "polars.parquet", "duckdb.parquet"} {
		files, out := drafted(t, "times", name, "name: \"local\"\n    type: datetime",
			"name: \"instant\"\n    type: datetime", "zone: UTC", "name: \"clock\"\n    type: time",
			"name: \"money\"\n    type: numeric", "name: \"count\"\n    type: integer")
		reads(t, files, name, out, 120)
	}
}

// TestUnreadColumnsAreNamed: a column that no domain can declare is named in the draft of the others, with the setting
// that lets a run pass over it, and that setting reads the file.
func TestUnreadColumnsAreNamed(t *testing.T) {
	for _, name := range []string{"pyarrow-list.parquet", "pyarrow-struct.parquet", "pyarrow-map.parquet"} {
		files, _ := drafted(t, "parquet", name, `# Not drafted: column 2, "nested", is stored as `, `csv: {extra: "ignore"}`,
			`name: "id"`)
		if csv, err := Dialect(t.Context(), Files(files, table.One(name)), &pipeline.CSV{}); err != nil ||
			csv != `extra: "ignore"` {
			t.Errorf("%s: init writes csv: {%s}, %v", name, csv, err)
		}
	}
}

// drafted drafts the domain of a file of a format, and looks for some texts in the draft.
func drafted(t *testing.T, folder, name string, wants ...string) (fstest.MapFS, *Drafted) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../table/testdata", folder, name))
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{name: {Data: data}}
	out, err := Draft(t.Context(), Files(files, table.One(name)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		if !strings.Contains(string(out.Domain), want) {
			t.Errorf("%s: draft lacks %q:\n%s", name, want, out.Domain)
		}
	}
	return files, out
}

// reads fails where the decided draft reads another number of rows from its file.
func reads(t *testing.T, files fstest.MapFS, name string, out *Drafted, rows int64) {
	t.Helper()
	d, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(string(out.Domain), "UNDECIDED", "public")))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := count(t, files, name, nil, d); got != rows {
		t.Errorf("%s: %d rows, must be %d", name, got, rows)
	}
}

// nothing returns a table whose columns hold no value.
func nothing(t *testing.T) []byte {
	t.Helper()
	var fields []arrow.Field
	for i, subject := range []arrow.DataType{arrow.Null, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Second},
		arrow.FixedWidthTypes.Time64ns, &arrow.Decimal128Type{Precision: 9, Scale: 2}, arrow.FixedWidthTypes.Boolean,
		arrow.BinaryTypes.String, arrow.BinaryTypes.StringView} {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: subject, Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range fields {
		b.Field(i).AppendNulls(300)
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s))
	if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestNumbersOfOtherSpellingsAreNoNumbers: what Go takes for a number and the reader
// does not.
func TestNumbersOfOtherSpellingsAreNoNumbers(t *testing.T) {
	if out := draftOf(t, "a,b\n0x1p4,1\n0x1p5,2\n"); !strings.Contains(out, "name: \"a\"\n    type: categorical") {
		t.Errorf("hexadecimal numbers are drafted as numbers:\n%s", out)
	}
}

// TestLengthsOfTimeAreNamed: a length of time is no column of a domain, and the draft says what to write in its place.
func TestLengthsOfTimeAreNamed(t *testing.T) {
	subject := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "stay", Type: arrow.FixedWidthTypes.Duration_us}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, subject)
	b.Field(0).(*array.Int64Builder).Append(1)
	b.Field(1).(*array.DurationBuilder).Append(86400e6)
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(subject))
	if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := Draft(t.Context(), Files(fstest.MapFS{"f": {Data: stream.Bytes()}}, table.One("f")), nil)
	const want = `# Not drafted: column 2, "stay", is stored as duration, which no domain declares. Leave it out, or write it as a number of seconds, hours or days`
	if err != nil || !strings.Contains(string(out.Domain), want) || strings.Contains(string(out.Domain), `name: "stay"`) {
		t.Errorf("%v, %s", err, out.Domain)
	}
}
