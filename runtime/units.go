package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/compute"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/privacy"
)

// capUnits keeps the first max_rows rows of each privacy unit. Which rows are
// kept depends on that unit's rows alone, so the source is rows(max_rows). A
// missing unit counts as a unit of its own for each row. Memory grows with the
// number of units.
func capUnits(t pipeline.Table, unit pipeline.Unit) pipeline.Table {
	if unit.Column == "" {
		return t
	}
	read := t.Open
	t.Open = func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			seen := map[string]int{}
			for rec, err := range read(ctx) {
				if err == nil {
					rec, err = capBatch(ctx, rec, unit, seen)
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
		}
	}
	return t
}

func capBatch(ctx context.Context, rec arrow.Record, unit pipeline.Unit, seen map[string]int) (arrow.Record, error) {
	indexes := rec.Schema().FieldIndices(unit.Column)
	if len(indexes) == 0 {
		return nil, fmt.Errorf("privacy_unit: unknown column %s", unit.Column)
	}
	column := rec.Column(indexes[0])
	// The kernels take what table.Growing has in hand for a buffer's length.
	ctx = compute.WithAllocator(ctx, memory.NewGoAllocator())
	keep := array.NewBooleanBuilder(compute.GetAllocator(ctx))
	for i := range column.Len() {
		if column.IsNull(i) { // a unit of its own, whatever another is called
			keep.Append(true)
			continue
		}
		id := column.ValueStr(i)
		keep.Append(seen[id] < unit.MaxRows)
		seen[id]++
	}
	return compute.FilterRecordBatch(ctx, rec, keep.NewArray(), compute.DefaultFilterOptions())
}

// errRowsPublic does not say how many rows there are.
var errRowsPublic = errors.New("rows_public is not the number of rows of the table; under replace_one it must be, and it must be public knowledge")

// countRows checks a declared row count at the end of the table. Under
// add_remove the count is private and stopping on it would tell it, so there a
// declared count is taken as a public estimate.
func countRows(t pipeline.Table) func(context.Context) pipeline.Batches {
	if t.Rows == 0 || t.Terms.Adjacency != privacy.ReplaceOne {
		return t.Open
	}
	return func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			var n int64
			for rec, err := range t.Open(ctx) {
				if err == nil {
					n += rec.NumRows()
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
			if n != t.Rows {
				yield(nil, errRowsPublic)
			}
		}
	}
}
