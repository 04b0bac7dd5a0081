package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// physical is how the values of a column are stored: a physical type of the format, and how many bytes each has where
// it is FIXED_LEN_BYTE_ARRAY.
type physical struct {
	kind  parquet.Type
	width int
}

func physicalOf(c *schema.Column) physical { return physical{c.PhysicalType(), c.TypeLength()} }

// newDecimals collects decimals: whole numbers in units of the last digit, in words of 32 or 64 bits, or in two's
// complement with the most significant byte first (parquet-format, LogicalTypes.md, DECIMAL).
func newDecimals(t arrow.DataType, stored physical, room int64) cells {
	switch stored.kind {
	case parquet.Types.Int32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32],
			array: decimalArray(t, func(v int32) (decimal128.Num, error) { return decimal128.FromI64(int64(v)), nil })}
	case parquet.Types.Int64:
		return &typed[int64]{plain: plainFixed(arrow.Int64Traits.CastFromBytes), delta: numbersOf[int64],
			array: decimalArray(t, func(v int64) (decimal128.Num, error) { return decimal128.FromI64(v), nil })}
	case parquet.Types.FixedLenByteArray:
		return &typed[parquet.ByteArray]{plain: cutAt(stored.width), delta: textsOf, array: decimalArray(t, wide), room: room}
	}
	return &typed[parquet.ByteArray]{plain: func(b []byte) decoder[parquet.ByteArray] { return &lengthed{b} }, delta: textsOf,
		array: decimalArray(t, wide), room: room}
}

// cut are plain values that all have as many bytes.
type cut struct {
	rest  []byte
	width int
}

func cutAt(width int) func([]byte) decoder[parquet.ByteArray] {
	return func(body []byte) decoder[parquet.ByteArray] { return &cut{body, width} }
}

func (c *cut) next(to []parquet.ByteArray) error {
	for i := range to {
		if len(c.rest) < c.width {
			return errFew
		}
		to[i], c.rest = c.rest[:c.width], c.rest[c.width:]
	}
	return nil
}

// wide reads a two's complement of at most 16 bytes; a missing value has none.
func wide(b parquet.ByteArray) (decimal128.Num, error) {
	if len(b) > 16 {
		return decimal128.Num{}, errors.New("a decimal has more than 16 bytes")
	}
	var whole [16]byte
	if len(b) > 0 && b[0] >= 0x80 {
		for i := range whole {
			whole[i] = 0xff
		}
	}
	copy(whole[16-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(whole[:8])), binary.BigEndian.Uint64(whole[8:])), nil
}

func decimalArray[T any](t arrow.DataType, number func(T) (decimal128.Num, error)) func([]T, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []T, valid *memory.Buffer, missing int) (arrow.Array, error) {
		out := make([]decimal128.Num, len(values))
		for i, v := range values {
			var err error
			if out[i], err = number(v); err != nil {
				return nil, err
			}
		}
		return fixedArray(t, arrow.Decimal128Traits.CastToBytes)(out, valid, missing)
	}
}

// julianEpoch is the Julian day number of 1970-01-01.
const julianEpoch = 2440588

// julian makes seconds of the timestamps that Spark and Impala store in 96 bits: nanoseconds of a day, then the day.
func julian(t arrow.DataType) func([]parquet.Int96, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []parquet.Int96, valid *memory.Buffer, missing int) (arrow.Array, error) {
		out := make([]int64, len(values))
		for i, v := range values {
			nanos, day := int64(binary.LittleEndian.Uint64(v[:8])), int64(binary.LittleEndian.Uint32(v[8:]))
			seconds := nanos / 1e9
			if nanos%1e9 < 0 {
				seconds--
			}
			out[i] = (day-julianEpoch)*24*60*60 + seconds
		}
		return fixedArray(t, arrow.Int64Traits.CastToBytes)(out, valid, missing)
	}
}
