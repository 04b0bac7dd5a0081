package table

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

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
