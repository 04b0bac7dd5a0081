package prep

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TakeRows is the record of the given rows of r, in their order. Its columns are numbers and texts.
func TakeRows(r arrow.Record, rows []int) (arrow.Record, error) {
	if int64(len(rows)) == r.NumRows() {
		return r, nil
	}
	columns := make([]arrow.Array, r.NumCols())
	for i := range columns {
		c, err := take(r.Column(i), rows)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", r.ColumnName(i), err)
		}
		columns[i] = c
	}
	return array.NewRecord(r.Schema(), columns, int64(len(rows))), nil
}

func take(a arrow.Array, rows []int) (arrow.Array, error) {
	b := takeBits(present(a), rows)
	switch a := a.(type) {
	case *array.Float64:
		return column(a.DataType(), gather(a.Float64Values(), rows), b), nil
	case *array.Int64:
		return column(a.DataType(), gather(a.Int64Values(), rows), b), nil
	case *array.Int32:
		return column(a.DataType(), gather(a.Int32Values(), rows), b), nil
	case *array.Float32:
		return column(a.DataType(), gather(a.Float32Values(), rows), b), nil
	case *array.String:
		build := array.NewStringBuilder(memory.DefaultAllocator)
		for j, i := range rows {
			if b.has(j) {
				build.Append(a.Value(i))
			} else {
				build.AppendNull()
			}
		}
		return build.NewArray(), nil
	}
	return nil, fmt.Errorf("has the Arrow type %s, must be a number or text", a.DataType())
}

func gather[T number](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for j, i := range rows {
		out[j] = values[i]
	}
	return out
}

func takeBits(b bits, rows []int) bits {
	if b == nil {
		return nil
	}
	out := newBits(len(rows))
	for j, i := range rows {
		if b.has(i) {
			out = out.with(j)
		}
	}
	return out
}
