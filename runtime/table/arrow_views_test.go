package table

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// viewsOf is a record of one column of views.
func viewsOf(texts []string) arrow.Record {
	b := array.NewStringViewBuilder(memory.DefaultAllocator)
	b.AppendValues(texts, nil)
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.StringView}}, nil)
	return array.NewRecord(s, []arrow.Array{b.NewArray()}, int64(len(texts)))
}

// changedView reads three texts after one word of the second one's view was changed.
func changedView(t *testing.T, word int, to uint32) error {
	t.Helper()
	record := viewsOf([]string{"a", "a text that is longer than twelve bytes", "b"})
	view := record.Column(0).Data().Buffers()[1].Bytes()[16+4*word:]
	for i := range 4 {
		view[i] = byte(to >> (8 * i))
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
