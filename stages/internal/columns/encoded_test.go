package columns

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/train/net"
)

// table has a number and a one-hot column of `width` categories, in the given batches.
func table(width int, batches ...[]any) pipeline.Table {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Numeric, Encoding: &domain.Encoding{Form: domain.MinMax, Width: 1}},
		{Name: "region", Type: domain.Categorical, Encoding: &domain.Encoding{Form: domain.OneHot, Width: width}},
	}}
	h := pipeline.TableHeader(d, pipeline.Header{Rows: 2}).WithShardColumn(2)
	var records []arrow.Record
	for _, b := range batches {
		build := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
		for i, code := range b {
			build.Field(0).(*array.Float32Builder).Append(float32(i) / 4)
			if code == nil {
				build.Field(1).AppendNull()
			} else {
				build.Field(1).(*array.Int32Builder).Append(int32(code.(int)))
			}
			build.Field(2).(*array.Int32Builder).Append(int32(i % 2))
		}
		records = append(records, build.NewRecord())
	}
	return pipeline.FromRecords(h, records...)
}

// TestReadEncoded: numbers and codes of every size come out in their rows, over batches and
// beyond the public row count.
func TestReadEncoded(t *testing.T) {
	for _, width := range []int{3, 256, 257, 1 << 16, 1<<16 + 1} {
		e, err := ReadEncoded(t.Context(), table(width, []any{0, width - 1}, []any{1, 2, width - 2}))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := e.Rows()
		if err != nil {
			t.Fatal(err)
		}
		m := net.NewMatrix(5, rows.Width())
		rows.Gather(m, []int32{0, 1, 2, 3, 4})
		for i, want := range []struct {
			number float32
			code   int
		}{{0, 0}, {0.25, width - 1}, {0, 1}, {0.25, 2}, {0.5, width - 2}} {
			row := m.Row(i)
			if row[0] != want.number || slices.Index(row[1:], 1) != want.code || len(row) != width+1 {
				t.Errorf("width %d, row %d: number %g, code %d, must be %v", width, i, row[0], slices.Index(row[1:], 1), want)
			}
		}
		if shards, err := e.ByShard(2); err != nil || fmt.Sprint(shards) != "[[0 2 4] [1 3]]" {
			t.Errorf("shards %v, %v", shards, err)
		}
	}
}

// TestReadBlocks: runs of numbers below, at and above leastBlock, around a code, come
// out in their rows, over batches and beyond the public row count.
func TestReadBlocks(t *testing.T) {
	d := &domain.Domain{}
	for i := range 2*leastBlock + 3 {
		e := &domain.Encoding{Form: domain.MinMax, Width: 1}
		if i == leastBlock || i == 2*leastBlock+1 {
			e = &domain.Encoding{Form: domain.OneHot, Width: 2}
		}
		d.Columns = append(d.Columns, domain.Column{Name: fmt.Sprint("c", i), Type: domain.Numeric, Encoding: e})
	}
	h := pipeline.TableHeader(d, pipeline.Header{Rows: 2})
	var records []arrow.Record
	row := 0
	for _, n := range []int{1, 0, 3} {
		build := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
		for range n {
			for i := range d.Columns {
				switch b := build.Field(i).(type) {
				case *array.Float32Builder:
					b.Append(float32(1000*row + i))
				case *array.Int32Builder:
					b.Append(int32(row % 2))
				}
			}
			row++
		}
		records = append(records, build.NewRecord())
	}
	e, err := ReadEncoded(t.Context(), pipeline.FromRecords(h, records...))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := e.Rows()
	if err != nil {
		t.Fatal(err)
	}
	m := net.NewMatrix(4, rows.Width())
	rows.Gather(m, []int32{3, 0, 2, 1})
	for at, row := range []int{3, 0, 2, 1} {
		got := m.Row(at)
		for i, c := range d.Columns {
			if c.Encoding.Form == domain.OneHot {
				if got[row%2] != 1 || got[1-row%2] != 0 {
					t.Fatalf("row %d, column %d: %v", row, i, got[:2])
				}
			} else if got[0] != float32(1000*row+i) {
				t.Fatalf("row %d, column %d: %g", row, i, got[0])
			}
			got = got[c.Encoding.Width:]
		}
		if len(got) != 0 {
			t.Fatalf("row %d has %d columns more", row, len(got))
		}
	}
	if _, err := e.Codes(0); err == nil {
		t.Error("a number has codes")
	}
}

// TestReadRefuses: codes that are none of their column must not be narrowed to others.
func TestReadRefuses(t *testing.T) {
	for want, c := range map[string]pipeline.Table{
		"column region: holds a code outside 0 to 2":     table(3, []any{0, 3}),
		"column region: holds a code outside 0 to 255":   table(256, []any{256}),
		"column region: holds a code outside 0 to 65535": table(1<<16, []any{-1}),
		"column region: holds missing values":            table(3, []any{1, nil}),
	} {
		if _, err := ReadEncoded(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, must be %q", err, want)
		}
	}
	e, err := ReadEncoded(t.Context(), table(3, []any{0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.ByShard(1); err == nil || !strings.Contains(err.Error(), "outside 0 to 0") {
		t.Errorf("a shard beyond the planned ones: %v", err)
	}
}
