package columns

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// appendFloats appends the values of an Arrow column of numbers; missing ones are NaN.
func appendFloats[F float32 | float64](dst []F, a arrow.Array) ([]F, error) {
	switch a := a.(type) {
	case *array.Float64:
		return grow(dst, a.Float64Values(), a), nil
	case *array.Float32:
		return grow(dst, a.Float32Values(), a), nil
	case *array.Int64:
		return grow(dst, a.Int64Values(), a), nil
	case *array.Int32:
		return grow(dst, a.Int32Values(), a), nil
	}
	return dst, fmt.Errorf("has the Arrow type %s, must be a number", a.DataType())
}

func grow[F float32 | float64, T float32 | float64 | int32 | int64](dst []F, values []T, a arrow.Array) []F {
	nulls := a.NullN() > 0
	for i, v := range values {
		x := F(v)
		if nulls && a.IsNull(i) {
			x = F(math.NaN())
		}
		dst = append(dst, x)
	}
	return dst
}

// appendCodes appends the values of an Arrow column of int32 codes; missing ones are -1.
func appendCodes(dst []int32, a arrow.Array) ([]int32, error) {
	codes, ok := a.(*array.Int32)
	if !ok {
		return dst, fmt.Errorf("has the Arrow type %s, must be int32 codes", a.DataType())
	}
	n := len(dst)
	dst = append(dst, codes.Int32Values()...)
	if a.NullN() > 0 {
		for i := range dst[n:] {
			if a.IsNull(i) {
				dst[n+i] = -1
			}
		}
	}
	return dst, nil
}
