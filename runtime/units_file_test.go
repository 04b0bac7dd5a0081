package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/runtime/files"
	"weir/runtime/table"
)

// counter remembers how many rows reach a stage.
type counter struct {
	rows      *int64
	meanwhile func() error
}

func (c counter) Plan(pipeline.Headers) (pipeline.Work, error) {
	out := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private}
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Run: func(ctx context.Context, _ *pipeline.Env,
		in pipeline.Tables) (pipeline.Tables, error) {
		rec, err := in["in"].Collect(ctx)
		if err == nil {
			*c.rows = rec.NumRows()
		}
		if c.meanwhile != nil {
			err = errors.Join(err, c.meanwhile())
		}
		return pipeline.Tables{"out": pipeline.WriteMetrics(out, nil)}, err
	}}, nil
}

// unitFile is a file of a column u that names units, and what its spec says of it.
type unitFile struct {
	column  string // of the domain, without its name
	csv     string // "" is the default
	format  string // of the file's name; csv by default
	content []byte
	parts   [][]byte // of several files, in place of content
	maxRows int

	meanwhile func(dir string) error // what happens to the folder while the stage works
}

// reach runs a spec over the file and returns how many rows reach its stage.
func (f unitFile) reach(t *testing.T) (rows int64, err error) {
	t.Helper()
	if f.format == "" {
		f.format = "csv"
	}
	dir, withName := t.TempDir(), "d."+f.format
	contents := map[string][]byte{withName: f.content}
	if f.parts != nil {
		withName, contents = "d?."+f.format, map[string][]byte{}
	}
	for i, part := range f.parts {
		contents[fmt.Sprintf("d%d.%s", i, f.format)] = part
	}
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := files.OpenFolder(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	var during func() error
	if f.meanwhile != nil {
		during = func() error { return f.meanwhile(dir) }
	}
	reg, err := Registry([]pipeline.Kind{{Name: "counter", Version: 1, Doc: "Counts.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormMetrics, Doc: "figures"}},
		New: func() pipeline.Stage { return &counter{&rows, during} }}})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("weir: 1\nname: units\ndataset: {file: %q, csv: {%s}, domain: {columns: [{name: u, %s}]}, "+
		"privacy_unit: {column: u, max_rows: %d}}\n"+
		"privacy: {epsilon: inf, claims: none, delta: 1e-6, adjacency: add_remove}\nstages:\n  count: {kind: counter}\n",
		withName, f.csv, f.column, f.maxRows)
	s, err := ParseSpec("spec.yaml", []byte(text), nil, folder, reg)
	if err != nil {
		return 0, err
	}
	plan, err := compile.Compile(s)
	if err != nil {
		return 0, err
	}
	opts := testOptions(t.TempDir())
	opts.Dir = dir
	_, err = Run(t.Context(), plan, opts)
	return rows, err
}

// TestUnitsOfSeveralFiles: a person whose rows lie in several files is one unit, whether the domain lists its name or
// not, and whatever a stored number is stored as.
func TestUnitsOfSeveralFiles(t *testing.T) {
	for name, f := range map[string]unitFile{
		"listed": {column: "type: categorical, categories: [a, b]", parts: [][]byte{lines("a", "b", "a"),
			lines("b", "b", "a"), lines("a")}},
		"unlisted": {column: "type: categorical, categories: [a], nullable: true", csv: "unknown: missing",
			parts: [][]byte{lines("a", "b", "a"), lines("b", "b", "a"), lines("a")}},
		"numbers": {column: "type: integer", parts: [][]byte{lines("1", "2", "1"), lines("2.0", "2", "01"), lines("1")}},
	} {
		f.maxRows = 3
		if rows, err := f.reach(t); err != nil || rows != 6 { // three of each
			t.Errorf("%s: %d rows of two units reach the stage, %v; must be 6", name, rows, err)
		}
	}
}

// TestAFileThatComesDuringARun: nothing is released of a table that is no longer the one of the pattern.
func TestAFileThatComesDuringARun(t *testing.T) {
	f := unitFile{column: "type: integer", parts: [][]byte{lines("1"), lines("2")}, maxRows: 1}
	f.meanwhile = func(dir string) error { return os.WriteFile(filepath.Join(dir, "d9.csv"), lines("3"), 0o600) }
	if _, err := f.reach(t); !errors.Is(err, pipeline.ErrChanged) || !strings.Contains(err.Error(), "d?.csv") {
		t.Errorf("%v, must be as changed", err)
	}
}

func lines(cells ...string) []byte { return []byte("u\n" + strings.Join(cells, "\n") + "\n") }

// times repeats a cell.
func times(n int, cell string) []string {
	return strings.Split(strings.Repeat(cell+"\n", n)[:n*len(cell)+n-1], "\n")
}

// TestUnlistedUnitIsCapped: 5,000 rows of one site that is not a category, of which 5 may
// count, in each format; 4,993 more did, each as a unit of its own.
func TestUnlistedUnitIsCapped(t *testing.T) {
	cells := append(times(7, "north"), times(4993, "nowhere")...)
	f := unitFile{column: "type: categorical, categories: [north, south], nullable: true", csv: "unknown: missing",
		maxRows: 5}
	for format, content := range map[string][]byte{"csv": lines(cells...), "parquet": parquetTexts(t, cells),
		"arrow": arrowFile(t, texts(cells))} {
		f.format, f.content = format, content
		if rows, err := f.reach(t); err != nil || rows != 10 {
			t.Errorf("%s: %d rows, %v; must be 5 of each of 2 units", format, rows, err)
		}
	}
}

// TestLargeIDsAreCapped: 3,000 rows of one id beyond 2^53. As numeric with NaN for missing
// each was missing, and in text it was another id, too; numeric is refused.
func TestLargeIDsAreCapped(t *testing.T) {
	const id, next = 1<<53 + 1, 1<<53 + 2
	ids := make([]int64, 3000)
	for i := range ids {
		ids[i] = id
	}
	ids[2999] = next
	var cells []string
	for _, n := range ids {
		cells = append(cells, fmt.Sprint(n))
	}
	unsigned := make([]uint64, len(ids))
	for i, n := range ids {
		unsigned[i] = uint64(n)
	}
	for name, f := range map[string]unitFile{
		"parquet": {format: "parquet", content: parquetIntegers(t, ids)}, "csv": {content: lines(cells...)},
		"arrow": {format: "arrow", content: arrowFile(t, integers(ids))}, "unsigned": {format: "arrow",
			content: arrowFile(t, naturals(unsigned))},
	} {
		f.maxRows, f.column = 2, "type: integer, missing: [NaN]"
		if rows, err := f.reach(t); err != nil || rows != 3 {
			t.Errorf("%s: %d rows, %v; must be 2 of one unit and 1 of another", name, rows, err)
		}
		f.column = "type: numeric, missing: [NaN]"
		const want = `dataset.privacy_unit.column: is "u", which is numeric, must be a column that tells units apart exactly: declare u with type: integer`
		if _, err := f.reach(t); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: as numeric %v, must say %s", name, err, want)
		}
	}
}

// TestWhoseRowACellIs: which spellings are one unit. Of each unit one row is kept, so the
// rows that are kept are the units; a row that names nobody is one, each.
func TestWhoseRowACellIs(t *testing.T) {
	const whole, colours, flags = "type: integer, nullable: true",
		"type: categorical, categories: [red, blue], nullable: true", "type: boolean, nullable: true"
	for name, c := range map[string]struct {
		column, csv string
		cells       []string
		units       int64
	}{
		"spellings of an integer": {whole, "", []string{"7", "007", "+7", "7.0", "7e0", "70E-1", "0.7e1"}, 1},
		"both zeros":              {whole, "", []string{"0", "-0", "0.0", "-0e5", "+0"}, 1},
		"integers that a float64 makes one": {whole, "", []string{"9007199254740992", "9007199254740993.0",
			"9007199254740993e0"}, 2},
		"the largest and the least": {whole, "", []string{"9223372036854775807", "9223372036854775806",
			"-9223372036854775808", "9223372036854775807.0"}, 3},
		"an integer like a missing one": {"type: integer, missing: [9007199254740993]", "", []string{"9007199254740992",
			"9007199254740992", "9007199254740993", "9007199254740993"}, 3},
		"integers that are declared missing": {"type: integer, missing: [99]", "", []string{"99", "99", "099", "98", "98"},
			4},
		"empty cells": {whole, "", []string{`""`, `""`, `""`}, 3},
		"text as it is": {"type: text", "", []string{"x", "X", "x ", " x", "\u00a0x", "\u00e9",
			"e\u0301", "x", "NA", "NA", "007", "7"}, 10},
		"text and trim":                 {"type: text", "trim: true", []string{"x", "x ", "  x", "\u00a0x"}, 2},
		"blanks that are trimmed":       {"type: text, nullable: true", "trim: true", []string{`""`, `""`, "x"}, 3},
		"blanks":                        {"type: text, nullable: true", "", []string{"  ", "  ", "   "}, 2},
		"text that is declared missing": {"type: text, missing: [NA]", "", []string{"NA", "NA", "na", "na"}, 3},
		"private categories": {"type: categorical, categories: private, nullable: true", "unknown: missing",
			[]string{"a", "a", "b"}, 2},
		"quotes and a suffix":    {"type: text", `strip_suffix: "."`, []string{`"x"`, "x.", "x"}, 1},
		"days":                   {"type: date", "", []string{"2019-04-30", "2019-04-30", "2019-05-01"}, 2},
		"words for a flag":       {flags, "", []string{"1", "true", "TRUE", "1.0", "0", "False"}, 2},
		"other words for a flag": {flags, "unknown: missing", []string{"yes", "yes", "1", "Yes"}, 3},
		"categories of numbers": {"type: ordinal, categories: [1, 2], nullable: true", "unknown: missing",
			[]string{"1", "1.0", "01", "7", "7.0", "007", "8"}, 3},
		"a text like the key of a number": {"type: ordinal, categories: [1, 2], nullable: true", "unknown: missing",
			[]string{"7", "false 7 0", "#false 7 0", "=7"}, 4},
		"a large one near a category": {"type: categorical, categories: [\"9007199254740992\"], nullable: true",
			"unknown: missing", []string{"9007199254740992", "9007199254740993", "9007199254740993.0"}, 2},
		"case of a category": {colours, "unknown: missing", []string{"red", "Red", "Red", "RED"}, 3},
		"unlisted, missing and empty": {colours + ", missing: [NA]", "unknown: missing", []string{"green", "green",
			"NA", "NA", `""`, `""`, "NaN", "NaN"}, 6},
		"unlisted and missing in all": {colours, "unknown: missing, missing: [NA]", []string{"green", "green", "NA",
			"NA"}, 3},
	} {
		rows, err := unitFile{column: c.column, csv: c.csv, content: lines(c.cells...), maxRows: 1}.reach(t)
		if err != nil || rows != c.units {
			t.Errorf("%s: %d units, %v; must be %d", name, rows, err, c.units)
		}
	}
}

// TestWhoseRowAStoredValueIs is the same of values that have types of their own.
func TestWhoseRowAStoredValueIs(t *testing.T) {
	const whole, words = "type: integer, nullable: true", "type: text, nullable: true"
	day := int64(24 * 60 * 60 * 1000)
	for name, c := range map[string]struct {
		column string
		values arrow.Array
		units  int64
		says   string // "" where the file is read
	}{
		"instants of a day":              {"type: date", instants(-1, 0, arrow.Date64(day-1), arrow.Date64(day)), 3, ""},
		"a dictionary with a text twice": {words, dictionary("x", "x", "y"), 2, ""},
		"categories with a text twice": {"type: categorical, categories: [y], nullable: true", dictionary("x", "x", "y"),
			2, ""},
		"texts that are empty":         {words, texts([]string{"", "", "x", "x"}), 3, ""},
		"beyond 64 bits":               {whole, naturals([]uint64{math.MaxUint64, 1}), 0, "64-bit range"},
		"floats of whole numbers":      {whole, floats(7, 7, 8, math.Copysign(0, -1), 0), 3, ""},
		"a float that may be two":      {whole, floats(1 << 53), 0, "different whole numbers are one"},
		"NaN that nobody declared":     {whole, floats(math.NaN(), 1), 0, "not a finite number"},
		"NaN that is declared missing": {"type: integer, missing: [NaN]", floats(math.NaN(), math.NaN(), 1), 3, ""},
		"NaN that is not a category": {"type: ordinal, categories: [1, 2], nullable: true",
			floats(math.NaN(), math.NaN(), 1, 7, 7), 3, ""},
		"times":                           {"type: text", times64(1, 2), 0, "is stored as timestamp"},
		"integers that a text would name": {"type: text", integers([]int64{1, 2}), 0, "is stored as int64"},
	} {
		f := unitFile{column: c.column, csv: "unknown: missing", format: "arrow", content: arrowFile(t, c.values), maxRows: 1}
		rows, err := f.reach(t)
		if c.says == "" && (err != nil || rows != c.units) {
			t.Errorf("%s: %d units, %v; must be %d", name, rows, err, c.units)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, must say %s", name, err, c.says)
		}
	}
}

func texts(cells []string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(cells, nil)
	return b.NewArray()
}

func integers(values []int64) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

func naturals(values []uint64) arrow.Array {
	b := array.NewUint64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

func floats(values ...float64) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

func instants(ms ...arrow.Date64) arrow.Array {
	b := array.NewDate64Builder(memory.DefaultAllocator)
	b.AppendValues(ms, nil)
	return b.NewArray()
}

func times64(values ...arrow.Timestamp) arrow.Array {
	b := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Second})
	b.AppendValues(values, nil)
	return b.NewArray()
}

// dictionary returns a column whose dictionary lists each cell anew.
func dictionary(cells ...string) arrow.Array {
	b := array.NewInt8Builder(memory.DefaultAllocator)
	for i := range cells {
		b.Append(int8(i))
	}
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.BinaryTypes.String}, b.NewArray(), texts(cells))
}

func arrowFile(t *testing.T, column arrow.Array) []byte {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{{Name: "u", Type: column.DataType(), Nullable: true}}, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(s))
	if err := w.Write(array.NewRecord(s, []arrow.Array{column}, int64(column.Len()))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parquetTexts(t *testing.T, cells []string) []byte {
	return parquetFile(t, domain.Text, texts(cells))
}

func parquetIntegers(t *testing.T, values []int64) []byte {
	return parquetFile(t, domain.Integer, integers(values))
}

func parquetFile(t *testing.T, as domain.ColumnType, column arrow.Array) []byte {
	t.Helper()
	h := pipeline.TableHeader(&domain.Domain{Columns: []domain.Column{{Name: "u", Type: as}}}, pipeline.Header{})
	var b bytes.Buffer
	if err := table.Chosen([]string{"parquet"})[0].Write(t.Context(), &b, "",
		pipeline.FromRecords(h, array.NewRecord(h.Schema, []arrow.Array{column}, int64(column.Len()))), table.Style{}); err !=
		nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
