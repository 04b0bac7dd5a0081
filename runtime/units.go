package runtime

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/compute"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/privacy"
)

// capUnits keeps max_rows rows of each privacy unit, the first or those that keeping finds, and every row that names
// none.
//
// What holds: add, remove or exchange all rows of one unit in the file, and at most max_rows
// rows of the table that leaves here go, and at most max_rows come. So the source is
// rows(max_rows).
//
// Why: a unit is all rows whose cells in the unit's column are read as one value. What a cell
// is read as follows from the cell and from what the spec declares (type, trim, spellings of
// missing), from no other row, so the units partition the rows of any file, and a unit's rows
// are the same whichever other units there are. Which of them stay depends on what they hold
// and on their order among themselves. A row without a value is a unit of its own: a cell that
// is empty, or spelled as the spec says that nobody is.
//
// This needs that a name is not lost, nor two made one, before rows are counted. A value
// that is not among the categories has its name in pipeline.UnlistedColumn, whatever
// csv.unknown makes of it. Integers are read exactly and text is what the file holds; numeric
// columns round, and no spec may have one name units (pipeline/spec/rules.go).
//
// Memory grows with the number of units. left, where it is not nil, is told at the end of each whole reading how many
// rows did not stay: a private number, for the owner alone.
func capUnits(t pipeline.Table, unit pipeline.Unit, left func(rows int64)) pipeline.Table {
	if unit.Column == "" {
		return t
	}
	if left == nil {
		left = func(int64) {}
	}
	read, begin := t.Open, (&first{unit}).begin
	if unit.Keep == pipeline.KeepByHash {
		begin = (&keeping{read: read, unit: unit}).begin
	}
	t.Open = func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			stays, err := begin(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			var gone int64
			for rec, err := range read(ctx) {
				if err == nil {
					gone += rec.NumRows()
					rec, err = capBatch(ctx, rec, unit, stays)
				}
				if err == nil {
					gone -= rec.NumRows()
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
			left(gone)
		}
	}
	return t
}

// stays says of each row of a reading, in their order, whether it stays.
type stays func(name unitName, named bool) bool

// first keeps the first rows of each unit.
type first struct{ pipeline.Unit }

func (f *first) begin(context.Context) (stays, error) {
	seen := map[unitName]int{}
	return func(name unitName, named bool) bool {
		seen[name]++
		return !named || seen[name] <= f.MaxRows
	}, nil
}

// unitName is the value that names a unit, or the spelling of one that is no category.
type unitName struct{ value, unlisted string }

// capBatch drops rows beyond the cap, and the column of names that only it reads.
func capBatch(ctx context.Context, rec arrow.Record, unit pipeline.Unit, stay stays) (arrow.Record, error) {
	names, rec, err := unitNames(rec, unit)
	if err != nil {
		return nil, err
	}
	// The kernels take what table.Growing has in hand for a buffer's length.
	ctx = compute.WithAllocator(ctx, memory.NewGoAllocator())
	keep := array.NewBooleanBuilder(compute.GetAllocator(ctx))
	for i := range int(rec.NumRows()) {
		keep.Append(stay(names(i)))
	}
	return compute.FilterRecordBatch(ctx, rec, keep.NewArray(), compute.DefaultFilterOptions())
}

// unitNames returns the names of the units of a record's rows, and the record without the column that only names read.
func unitNames(rec arrow.Record, unit pipeline.Unit) (names func(i int) (name unitName, named bool), rows arrow.Record, err error) {
	indexes := rec.Schema().FieldIndices(unit.Column)
	if len(indexes) == 0 {
		return nil, nil, fmt.Errorf("privacy_unit: unknown column %s", unit.Column)
	}
	column := rec.Column(indexes[0])
	rows, unlisted := withoutUnlisted(rec)
	return func(i int) (unitName, bool) { return nameOf(column, unlisted, i) }, rows, nil
}

// nameOf returns the name of row i's unit; named is false where the row is a unit of its own.
func nameOf(column, unlisted arrow.Array, i int) (name unitName, named bool) {
	switch {
	case column.IsValid(i):
		return unitName{value: column.ValueStr(i)}, true
	case unlisted != nil && unlisted.IsValid(i):
		return unitName{unlisted: unlisted.ValueStr(i)}, true
	}
	return unitName{}, false
}

// withoutUnlisted takes the column pipeline.UnlistedColumn off a record; nil where it has none.
func withoutUnlisted(rec arrow.Record) (arrow.Record, arrow.Array) {
	last := int(rec.NumCols()) - 1
	if rec.ColumnName(last) != pipeline.UnlistedColumn {
		return rec, nil
	}
	s := arrow.NewSchema(rec.Schema().Fields()[:last], nil)
	return array.NewRecord(s, rec.Columns()[:last], rec.NumRows()), rec.Column(last)
}

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
				yield(nil, pipeline.ErrRowsPublic)
			}
		}
	}
}
