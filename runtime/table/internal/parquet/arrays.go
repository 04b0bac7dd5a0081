package parquet

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

func arrayOf(t arrow.DataType, rows, missing int, buffers ...*memory.Buffer) arrow.Array {
	data := array.NewData(t, rows, buffers, nil, missing, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func fixedArray[T any](t arrow.DataType, bytes func([]T) []byte) func([]T, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []T, valid *memory.Buffer, missing int) (arrow.Array, error) {
		return arrayOf(t, len(values), missing, valid, memory.NewBufferBytes(bytes(values))), nil
	}
}

func widened(wide func(int32) int64) func([]int32, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []int32, valid *memory.Buffer, missing int) (arrow.Array, error) {
		out := make([]int64, len(values))
		for i, v := range values {
			out[i] = wide(v)
		}
		return fixedArray(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes)(out, valid, missing)
	}
}

func flagArray(values []bool, valid *memory.Buffer, missing int) (arrow.Array, error) {
	bits := make([]byte, (len(values)+7)/8)
	for i, is := range values {
		if is {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return arrayOf(arrow.FixedWidthTypes.Boolean, len(values), missing, valid, memory.NewBufferBytes(bits)), nil
}

// nullArray is of a column that no row has a value in, whatever its pages hold.
func nullArray(values []int32, _ *memory.Buffer, _ int) (arrow.Array, error) {
	return array.NewNull(len(values)), nil
}
