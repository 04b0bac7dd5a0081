package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
	"weir/stages/model/artifact"
	"weir/stages/prep"
)

// kept is the first rows of a record, at most so many, that meet the conditions.
func (c *conditions) kept(rec arrow.Record, most int64) (arrow.Record, error) {
	meets := make([]bool, rec.NumRows())
	for i := range meets {
		meets[i] = true
	}
	for i, at := range c.places {
		if err := strike(meets, c.values[i], rec.Column(at)); err != nil {
			return nil, fmt.Errorf("column %s: %w", rec.ColumnName(at), err)
		}
	}
	rows := make([]int, 0, len(meets))
	for i, is := range meets {
		if is && int64(len(rows)) < most {
			rows = append(rows, i)
		}
	}
	rec, err := prep.TakeRows(rec, rows)
	if err != nil {
		return nil, err
	}
	columns := slices.Clone(rec.Columns())
	for i, codes := range c.codes {
		if codes != nil {
			columns[c.places[i]] = recode(columns[c.places[i]].(*array.Int32), codes)
		}
	}
	return array.NewRecord(c.out.Schema, columns, rec.NumRows()), nil
}

// strike marks the rows whose value of a column is none of those wanted.
func strike(meets []bool, wanted domain.Values, a arrow.Array) error {
	var at func(i int) float64
	switch a := a.(type) {
	case *array.Int32:
		at = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int64:
		at = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		at = a.Value
	default:
		return fmt.Errorf("has the Arrow type %s, must be a number or a category", a.DataType())
	}
	for i := range meets {
		v := math.NaN()
		if a.IsValid(i) {
			v = at(i)
		}
		meets[i] = meets[i] && wanted.Has(v)
	}
	return nil
}

// recode gives categories their new codes. Those that are gone were struck.
func recode(a *array.Int32, codes []int32) arrow.Array {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.Reserve(a.Len())
	for i, code := range a.Int32Values() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(codes[code])
		}
	}
	return b.NewArray()
}

// batch gathers records of few rows, so that a rare condition does not make as many records
// as rows.
type batch struct {
	schema  *arrow.Schema
	yield   func(arrow.Record, error) bool
	waiting []arrow.Record
	rows    int64
}

// add takes a record, and hands on what waits once it is a batch, or the last one. It is
// false where nobody wants more.
func (b *batch) add(rec arrow.Record, last bool) bool {
	rec.Retain()
	b.waiting, b.rows = append(b.waiting, rec), b.rows+rec.NumRows()
	if !last && b.rows < artifact.BatchRows && len(b.waiting) < artifact.BatchRows {
		return true
	}
	columns := make([]arrow.Array, b.schema.NumFields())
	for i := range columns {
		parts := make([]arrow.Array, len(b.waiting))
		for j, r := range b.waiting {
			parts[j] = r.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			b.yield(nil, err)
			return false
		}
	}
	joined := array.NewRecord(b.schema, columns, b.rows)
	b.waiting, b.rows = nil, 0
	return b.yield(joined, nil)
}
