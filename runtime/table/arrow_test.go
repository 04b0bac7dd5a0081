package table

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/stattest"
	"weir/pipeline/domain"
)

// arrowCorpus returns the files and streams that testdata/arrow/make.py wrote.
func arrowCorpus(t testing.TB) (fstest.MapFS, []string) {
	t.Helper()
	return filesOf(t, "testdata/arrow/*.arrow*", 45)
}

// TestArrowOfOthers compares every cell of every file and stream with rows.csv, which
// holds what make.py wrote.
func TestArrowOfOthers(t *testing.T) {
	files, names := arrowCorpus(t)
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
		t.Run(name, func(t *testing.T) {
			want := all[:300]
			if strings.Contains(name, "-zero") {
				want = nil
			}
			table, err := Open(files, name, nil, corpusDomain())
			if err != nil {
				t.Fatal(err)
			}
			got := cellsOf(t, table)
			if len(got) != len(want) {
				t.Fatalf("%d rows, must be %d", len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("row %d is %s, must be %s", i, got[i], want[i])
				}
			}
		})
	}
}

// TestArrowRowsAreCounted: a footer that lists fewer batches, or other bytes, is never
// a shorter table. An ordinary run changes every 23rd byte, which no field of four or eight has as its period.
func TestArrowRowsAreCounted(t *testing.T) {
	files, _ := arrowCorpus(t)
	for _, name := range []string{"polars-batches.arrow", "polars.arrow", "pyarrow-batches.arrow",
		"polars-batches.arrows"} {
		data := files[name].Data
		for place := 0; place < len(data); place += stattest.Rounds(23, 5) {
			changed := bytes.Clone(data)
			changed[place] ^= 0x15
			rows, err := rowsRead(inMemory(changed))
			if err == nil && rows != 300 {
				t.Errorf("%s: byte %d: %d rows and no error, must be 300", name, place, rows)
			}
		}
	}
}

// TestFooterWithoutBlocks: what a footer does not list is not lost, whether the schema
// at the front is a message or bare.
func TestFooterWithoutBlocks(t *testing.T) {
	files, _ := arrowCorpus(t)
	for _, name := range []string{"polars.arrow", "polars-zstd.arrow", "pyarrow-plain.arrow"} {
		data := bytes.Clone(files[name].Data)
		footer, err := footerOf(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		first, n, err := rootOf(footer).structs(footerBatches, 24)
		if err != nil || n != 1 {
			t.Fatal(n, err)
		}
		at := len(data) - int(tailBytes) - len(footer) + first - 4
		copy(data[at:], []byte{0, 0, 0, 0}) // the number of blocks
		if rows, err := rowsRead(inMemory(data)); err == nil || !strings.Contains(err.Error(), "does not list all") {
			t.Errorf("%s: %d rows, %v; must say that the footer does not list all", name, rows, err)
		}
	}
}

// viewsOf returns a record of one column of views.
func viewsOf(texts []string) arrow.Record {
	b := array.NewStringViewBuilder(memory.DefaultAllocator)
	b.AppendValues(texts, nil)
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.StringView}}, nil)
	return array.NewRecord(s, []arrow.Array{b.NewArray()}, int64(len(texts)))
}

// changedView reads three texts after one word of the second one's view was changed.
func changedView(t *testing.T, word int, value uint32) error {
	t.Helper()
	record := viewsOf([]string{"a", "a text that is longer than twelve bytes", "b"})
	view := record.Column(0).Data().Buffers()[1].Bytes()[16+4*word:]
	for i := range 4 {
		view[i] = byte(value >> (8 * i))
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "t", Type: domain.Text}}}
	for form, data := range arrowForms(record) {
		table, err := Open(inMemory(data), "f", nil, d)
		if err != nil {
			return fmt.Errorf("%s: %w", form, err)
		}
		if _, err = table.Collect(t.Context()); err == nil {
			return nil
		}
		var ours *Error
		if !errors.As(err, &ours) || !strings.Contains(err.Error(), "column 1 holds less than its rows need") {
			t.Errorf("%s: %v, must name the column", form, err)
		}
	}
	return errors.New("refused")
}

// TestHostileViews: a length, a buffer or a place that leads out of a column is judged
// before a value is looked up.
func TestHostileViews(t *testing.T) {
	if err := changedView(t, 3, 0); err != nil {
		t.Fatal(err) // where the text is
	}
	for _, c := range []struct {
		word int
		to   uint32
	}{{0, 0x80000000}, {0, 0x7fffffff}, {0, 41}, {2, 1}, {2, 0xffffffff}, {3, 1}, {3, 0xffffffff}, {3, 0x7fffffff}} {
		if changedView(t, c.word, c.to) == nil {
			t.Errorf("word %d as %#x is read", c.word, c.to)
		}
	}
}

// TestViewsOfTheSameBytes: a small file whose views all show the same long text would
// become a table of many gigabytes.
func TestViewsOfTheSameBytes(t *testing.T) {
	texts := make([]string, 4096)
	texts[0] = strings.Repeat("x", 1<<20)
	record := viewsOf(texts)
	views := record.Column(0).Data().Buffers()[1].Bytes()
	for i := range texts {
		copy(views[viewBytes*i:], views[:viewBytes])
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "t", Type: domain.Text}}}
	for form, data := range arrowForms(record) {
		bounded(t, form, len(data), func() {
			table, err := Open(inMemory(data), "f", nil, d)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := table.Collect(t.Context()); err == nil || !strings.Contains(err.Error(), "show more text than 64 MiB") {
				t.Errorf("%s: %v, must be refused for what it becomes", form, err)
			}
		})
	}
}
