package duckdb

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
)

// errInfinite is a value that no file can hold.
var errInfinite = errors.New("holds an infinite date or timestamp, must hold none; " +
	"make it missing in the table, or in a view of it")

// adder returns how the spelling of a value is appended to a column of a type that storedAs names.
func adder(b array.Builder) func([]byte) error {
	switch b := b.(type) {
	case *array.StringBuilder:
		return func(v []byte) error { b.Append(string(v)); return nil }
	case *array.BooleanBuilder:
		return func(v []byte) error { b.Append(string(v) == "true"); return nil }
	case *array.Float64Builder:
		return func(v []byte) error {
			x, err := strconv.ParseFloat(string(v), 64)
			b.Append(x)
			return broken(err)
		}
	case *array.Uint64Builder:
		return func(v []byte) error {
			x, err := strconv.ParseUint(string(v), 10, 64)
			b.Append(x)
			return broken(err)
		}
	case *array.Decimal128Builder:
		return func(v []byte) error { return addDecimal(b, v) }
	}
	return wholeAdder(b)
}

// wholeAdder returns the adder of what crosses as a whole number.
func wholeAdder(b array.Builder) func([]byte) error {
	put := func(int64) {}
	switch b := b.(type) {
	case *array.Int64Builder:
		put = b.Append
	case *array.Date32Builder:
		put = func(x int64) { b.Append(arrow.Date32(x)) }
	case *array.TimestampBuilder:
		put = func(x int64) { b.Append(arrow.Timestamp(x)) }
	case *array.Time64Builder:
		put = func(x int64) { b.Append(arrow.Time64(x)) }
	default: // a type that is not read, which nobody asks for
		return func([]byte) error { return errBroken }
	}
	return func(v []byte) error {
		if string(v) == infinite {
			return errInfinite
		}
		x, err := strconv.ParseInt(string(v), 10, 64)
		put(x)
		return broken(err)
	}
}

// broken hides an error that quotes a cell.
func broken(err error) error {
	if err != nil {
		return errBroken
	}
	return nil
}

// addDecimal appends a number that is spelled with all digits of its scale.
func addDecimal(b *array.Decimal128Builder, v []byte) error {
	digits, ok := new(big.Int).SetString(strings.Replace(string(v), ".", "", 1), 10)
	if !ok {
		return errBroken
	}
	b.Append(decimal128.FromBigInt(digits))
	return nil
}
