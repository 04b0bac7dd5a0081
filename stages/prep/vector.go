package prep

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// number is a type of the fixed-width columns of a pipeline.
type number interface {
	float64 | float32 | int64 | int32
}

// bits says which values are present; nil says all.
type bits []byte

func newBits(n int) bits { return make(bits, bitutil.BytesForBits(int64(n))) }

func allSet(n int) bits {
	b := newBits(n)
	bitutil.SetBitsTo(b, 0, int64(n), true)
	return b
}

func (b bits) has(i int) bool { return b == nil || bitutil.BitIsSet(b, i) }

// present copies which values of a are not null.
func present(a arrow.Array) bits {
	if a.NullN() == 0 {
		return nil
	}
	b := newBits(a.Len())
	if a.DataType().ID() != arrow.NULL {
		bitutil.CopyBitmap(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), b, 0)
	}
	return b
}

// without returns b with value i missing; n is the number of values.
func (b bits) without(i, n int) bits {
	if b == nil {
		b = allSet(n)
	}
	bitutil.ClearBit(b, i)
	return b
}

// column wraps values and their presence as an Arrow array, without copying.
func column[T number](t arrow.DataType, values []T, b bits) arrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if b != nil {
		valid = memory.NewBufferBytes(b)
		nulls = len(values) - bitutil.CountSetBits(b, 0, len(values))
	}
	data := array.NewData(t, len(values), []*memory.Buffer{valid, memory.NewBufferBytes(arrow.GetBytes(values))}, nil, nulls, 0)
	return array.MakeFromData(data)
}

// floats reads a fixed-width column as float64; values at nulls mean nothing.
// The result of a float64 column is its own memory: do not write to it.
func floats(a arrow.Array) ([]float64, error) {
	if a, ok := a.(*array.Float64); ok {
		return a.Float64Values(), nil
	}
	values := make([]float64, a.Len())
	return values, look(a, func(i int, v float64) { values[i] = v })
}

// look yields the values of a fixed-width column as float64, without a copy of
// them; values at nulls mean nothing.
func look(a arrow.Array, see func(i int, v float64)) error {
	switch a := a.(type) {
	case *array.Float64:
		each(a.Float64Values(), see)
	case *array.Int64:
		each(a.Int64Values(), see)
	case *array.Int32:
		each(a.Int32Values(), see)
	case *array.Float32:
		each(a.Float32Values(), see)
	default:
		return fmt.Errorf("has the Arrow type %s, must be a number", a.DataType())
	}
	return nil
}

func each[T number](values []T, see func(i int, v float64)) {
	for i, v := range values {
		see(i, float64(v))
	}
}

func convert[A, B number](from []A) []B {
	to := make([]B, len(from))
	for i, v := range from {
		to[i] = B(v)
	}
	return to
}

// store turns float64 values into a column of type t; whole-number types take
// values that are whole already.
func store(t arrow.DataType, values []float64, b bits) arrow.Array {
	switch t.ID() {
	case arrow.INT64:
		whole := make([]int64, len(values))
		for i, v := range values {
			whole[i] = int64(saturated(v))
		}
		return column(t, whole, b)
	case arrow.INT32:
		return column(t, convert[float64, int32](values), b)
	case arrow.FLOAT32:
		return column(t, convert[float64, float32](values), b)
	}
	return column(t, values, b)
}

// replacing is a, as a column of type t, with other values at some places, and presence b. What stands elsewhere is as
// it was, to the bit: an integer that a float64 does not hold must not be rounded because a row of the batch is
// replaced, since then one unit would change the rows of others, and the parts and shards that go by their names.
func replacing(a arrow.Array, t arrow.DataType, places []int, value func(j int) float64, b bits) (arrow.Array, error) {
	if a, ok := a.(*array.Int64); ok && t.ID() == arrow.INT64 {
		whole := slices.Clone(a.Int64Values())
		for _, j := range places {
			whole[j] = int64(saturated(value(j)))
		}
		return column(t, whole, b), nil
	}
	values, err := floats(a)
	held := slices.Clone(values)
	for _, j := range places {
		held[j] = value(j)
	}
	return store(t, held, b), err
}

// codes reads an int32 column.
func codes(a arrow.Array) ([]int32, error) {
	if a, ok := a.(*array.Int32); ok {
		return a.Int32Values(), nil
	}
	return nil, fmt.Errorf("has the Arrow type %s, must be int32", a.DataType())
}

// withBits is a with other values missing; its values are shared.
func withBits(a arrow.Array, b bits) arrow.Array {
	d, buffers := a.Data(), slices.Clone(a.Data().Buffers())
	valid := newBits(d.Offset() + d.Len())
	bitutil.CopyBitmap(b, 0, d.Len(), valid, d.Offset())
	buffers[0] = memory.NewBufferBytes(valid)
	nulls := d.Len() - bitutil.CountSetBits(b, 0, d.Len())
	return array.MakeFromData(array.NewData(d.DataType(), d.Len(), buffers, nil, nulls, d.Offset()))
}
