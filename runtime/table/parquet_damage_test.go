package table

import (
	"bytes"
	"context"
	"errors"
	"runtime"
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

// readAs reads a file of one column of text.
func readAs(data []byte, column string) (rows int64, err error) {
	d := &domain.Domain{Columns: []domain.Column{{Name: column, Type: domain.Text, Nullable: true}}}
	table, err := Open(fstest.MapFS{"f": {Data: data}}, "f", &pipeline.CSV{Extra: "ignore"}, d)
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

// TestPageSumsAreChecked: one bit of a text changes, which makes another text of the same
// length. In a file whose pages have sums that is an error that says so; in the same
// table without sums nothing can tell, which shows that only the sum can.
func TestPageSumsAreChecked(t *testing.T) {
	files, _ := corpus(t)
	for name, sums := range map[string]bool{"pyarrow-pages.parquet": true, "pyarrow-plain.parquet": false} {
		data := bytes.Clone(files[name].Data)
		place := bytes.Index(data, []byte("\x04\x00\x00\x00n310")) // row 10 of note, as a plain page or dictionary has it
		if place < 0 {
			t.Fatalf("%s: row 10 is not where it was", name)
		}
		data[place+5] ^= 1
		rows, err := readAs(data, "note")
		if !sums && (err != nil || rows != 300) {
			t.Errorf("%s: %d rows and %v, must be 300", name, rows, err)
		}
		if sums && (err == nil || !strings.Contains(err.Error(),
			"is damaged: a page does not have the checksum that it says")) {
			t.Errorf("%s: %v, must name the checksum", name, err)
		}
	}
}

// storedTexts returns a file of these texts, which the library does not judge.
func storedTexts(t *testing.T, dictionary bool, list []string) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.StringBuilder).AppendValues(list, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(parquet.WithDictionaryDefault(dictionary)),
		pqarrow.DefaultWriterProps())
	if err == nil {
		err = errors.Join(w.Write(b.NewRecord()), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestEachTextIsUTF8: by itself, not only together with its neighbours.
func TestEachTextIsUTF8(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		valid bool
	}{
		"whole":              {[]string{"é", "", "日本", "x", "é"}, true},
		"no UTF-8":           {[]string{"x", "\xff", "y"}, false},
		"half at the end":    {[]string{"x", "a\xc3"}, false},
		"two halves":         {[]string{"a\xc3", "\xa9b"}, false},
		"halves with a gap":  {[]string{"a\xe6", "", "\x97\xa5"}, false},
		"begins with a half": {[]string{"\xa9"}, false},
	} {
		for _, dictionary := range []bool{true, false} {
			rows, err := readAs(storedTexts(t, dictionary, c.texts), "s")
			if c.valid && (err != nil || rows != int64(len(c.texts))) {
				t.Errorf("%s: %d rows and %v, must be %d", name, rows, err, len(c.texts))
			}
			if !c.valid && (err == nil || !strings.Contains(err.Error(), "is damaged: a text is not UTF-8")) {
				t.Errorf("%s: %v, must say that a text is not UTF-8", name, err)
			}
		}
	}
}

// FuzzParquet: no file makes the reader panic, gives other rows than its footer
// says, quotes a cell, or takes memory out of proportion.
func FuzzParquet(f *testing.F) {
	files, names := corpus(f)
	for _, name := range names {
		if data := files[name].Data; len(data) < 20_000 {
			f.Add(data)
		}
	}
	times, names := filesOf(f, "testdata/times/*.parquet", 6)
	for _, name := range names {
		f.Add(times[name].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows, err := rowsRead(fstest.MapFS{"f": {Data: data}})
		spelledOut(t, fstest.MapFS{"f": {Data: data}})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<30 {
			t.Fatalf("%d MiB for a file of %d bytes", took>>20, len(data))
		}
		if err != nil {
			checkQuotes(t, err)
			return
		}
		opened, err := parquetFor(fstest.MapFS{"f": {Data: data}}, "f")
		if err != nil {
			return // text, or Arrow
		}
		if rows != opened.NumRows() {
			t.Fatalf("%d rows and no error, the footer says %d", rows, opened.NumRows())
		}
	})
}

// spelledOut spells every column of a file that is read without a domain.
func spelledOut(t *testing.T, files FS) {
	raw, err := OpenRaw(t.Context(), files, "f", nil)
	if err != nil {
		return
	}
	for _, err := range raw.Rows {
		if err != nil {
			return
		}
	}
}

// checkQuotes: every cell of the corpus that is a text looks like n123 or is a word
// of the domain.
func checkQuotes(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no error of a table", err)
	}
	for _, cell := range []string{"grey, pale", "so \"called\"", "n31", "n62", "n93"} {
		if strings.Contains(err.Error(), cell) {
			t.Fatalf("error quotes a cell: %v", err)
		}
	}
}
