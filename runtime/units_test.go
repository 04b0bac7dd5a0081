package runtime

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

// visits returns a table of two batches: units[i] is whose row i is, 0 is missing.
func visits(units ...int64) pipeline.Table {
	d := &domain.Domain{Columns: []domain.Column{{Name: "patient", Type: domain.Integer, Nullable: true},
		{Name: "visit", Type: domain.Integer}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private})
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for i, u := range units {
		if u == 0 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(u)
		}
		b.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	all := b.NewRecord()
	half := all.NumRows() / 2
	return pipeline.FromRecords(h, all.NewSlice(0, half), all.NewSlice(half, all.NumRows()))
}

func storedTables(t *testing.T, table pipeline.Table) string {
	t.Helper()
	rec, err := table.Collect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(rec.Column(1).(*array.Int64).Int64Values())
}

// TestUnitsAreCapped: the first max_rows rows of each unit stay, across batches
// and at each opening; a missing unit is one of its own for each row.
func TestUnitsAreCapped(t *testing.T) {
	table := visits(7, 8, 7, 0, 7, 0, 8, 7, 9)
	for max, want := range map[int]string{1: "[0 1 3 5 8]", 2: "[0 1 2 3 5 6 8]", 9: "[0 1 2 3 4 5 6 7 8]"} {
		left := int64(-1)
		capped := capUnits(table, pipeline.Unit{Column: "patient", MaxRows: max}, func(rows int64) { left = rows })
		for range 2 {
			if got := storedTables(t, capped); got != want {
				t.Errorf("max_rows %d keeps visits %s, must keep %s", max, got, want)
			}
			if gone := 9 - int64(len(strings.Fields(want))); left != gone {
				t.Errorf("max_rows %d leaves %d rows out by its count, must be %d", max, left, gone)
			}
		}
		left = -1
		for range capped.Open(t.Context()) {
			break
		}
		if left != -1 {
			t.Error("a reading that ended early has a count")
		}
	}
	if got := storedTables(t, capUnits(table, pipeline.Unit{}, nil)); got != "[0 1 2 3 4 5 6 7 8]" {
		t.Errorf("unit row keeps %s, must keep all", got)
	}
}

// TestUnitNamedNull: a unit that is spelled as missing values are printed is not a
// missing one, whatever the column's type.
func TestUnitNamedNull(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "patient", Type: domain.Text, Nullable: true},
		{Name: "visit", Type: domain.Integer}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private})
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for i, u := range []string{"(null)", "", "(null)", "", "x", "null", "(null)"} {
		if u == "" {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(u)
		}
		b.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	if got := storedTables(t, capUnits(pipeline.FromRecords(h, b.NewRecord()), pipeline.Unit{Column: "patient",
		MaxRows: 1},
		nil)); got != "[0 1 3 4 5]" {
		t.Errorf("keeps visits %s, must keep [0 1 3 4 5]", got)
	}
}

// TestUnitsUnderGrowing: texts of growing length, every second of which stays. Arrow's
// kernels panic where they get the memory that the command allocates elsewhere.
func TestUnitsUnderGrowing(t *testing.T) {
	whole := memory.DefaultAllocator
	memory.DefaultAllocator = table.Growing{Allocator: whole}
	defer func() { memory.DefaultAllocator = whole }()
	d := &domain.Domain{Columns: []domain.Column{{Name: "patient", Type: domain.Integer},
		{Name: "note", Type: domain.Text}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private})
	b := array.NewRecordBuilder(whole, h.Schema)
	for i := range 80 {
		b.Field(0).(*array.Int64Builder).Append(int64(i / 2))
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat(string(rune('a'+i%26)), i))
	}
	rec, err := capUnits(pipeline.FromRecords(h, b.NewRecord()), pipeline.Unit{Column: "patient", MaxRows: 1},
		nil).Collect(t.Context())
	if err != nil || rec.NumRows() != 40 {
		t.Fatalf("%v, %v", rec, err)
	}
	for i := range 40 {
		if got, want := rec.Column(1).(*array.String).Value(i), strings.Repeat(string(rune('a'+2*i%26)), 2*i); got != want {
			t.Errorf("row %d has %q, must have %q", i, got, want)
		}
	}
}
