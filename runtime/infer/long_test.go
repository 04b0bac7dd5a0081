package infer

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"weir/pipeline"
	"weir/schema"
)

// TestLongTextsAreNotKept: spellings that are not categories of a domain that weir check
// reads are neither kept nor written. One column, 150 texts of 16 KiB, 2.4 MB: more than
// schema.MaxBytes, which is what a profile may keep.
func TestLongTextsAreNotKept(t *testing.T) {
	p := newProfile("s", 0, nil)
	for i := range 150 {
		p.see([]byte(fmt.Sprint(i, strings.Repeat("x", 16<<10))))
	}
	size := 0
	for s := range p.distinct {
		size += len(s)
	}
	if c := p.column(); size > schema.MaxBytes || c.Type != "text" || c.Categories != nil {
		t.Errorf("%d bytes kept for a column of type %s, must be at most %d of type text", size, c.Type, schema.MaxBytes)
	}
	var text bytes.Buffer
	text.WriteString("a,s\n")
	for i := range 150 {
		fmt.Fprintf(&text, "%d,%d%s\n", i, i, strings.Repeat("x", 16<<10))
	}
	if out := draftOf(t, text.String()); !strings.Contains(out, "name: \"s\"\n    type: text") {
		t.Errorf("a draft of %d bytes without a column of text", len(out))
	}
}

// TestLongTextsAreNotCopied: 20,000 times one text of 30 kB, 600 MB, costs one copy of it.
func TestLongTextsAreNotCopied(t *testing.T) {
	p, text := newProfile("s", 0, nil), bytes.Repeat([]byte("a"), 30_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20_000 {
		p.see(text)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%d bytes were allocated, must be at most 1 MiB", took)
	}
}

// TestGuessOfLongRows: a guess keeps 1 MiB of rows and the one that goes beyond it, not
// 200 whatever they are.
func TestGuessOfLongRows(t *testing.T) {
	row := strings.Repeat("x", 2<<20) + "," + strings.Repeat("y", 2<<20) + "\n"
	files := fstest.MapFS{"f.csv": {Data: []byte(strings.Repeat(row, 30))}}
	no := false
	rows, err := peek(t.Context(), files, "f.csv", &pipeline.CSV{Header: &no})
	if err != nil || len(rows) != 1 {
		t.Errorf("%d rows and %v, must be the one that is longer than 1 MiB", len(rows), err)
	}
}
