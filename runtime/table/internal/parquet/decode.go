package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
)

// decoder gives the values of a page, one after the other: as many as to holds,
// or an error.
type decoder[T any] interface {
	next(to []T) error
}

// maker is a decoder that makes values where others give parts of the page: of the next
// n, upto says how many take no more than room bytes, but for the first, and how many
// bytes those take.
type maker interface {
	upto(n, room int64) (values, bytes int64)
}

// fixed are plain values that all are as wide.
type fixed[T any] struct{ rest []T }

func (f *fixed[T]) next(to []T) error {
	if len(f.rest) < len(to) {
		return errFew
	}
	f.rest = f.rest[copy(to, f.rest):]
	return nil
}

func plainFixed[T any](cast func([]byte) []T) func([]byte) decoder[T] {
	return func(body []byte) decoder[T] { return &fixed[T]{cast(body)} }
}

// lengthed are plain texts, each behind its length.
type lengthed struct{ rest []byte }

func (l *lengthed) next(to []parquet.ByteArray) error {
	for i := range to {
		if len(l.rest) < 4 {
			return errFew
		}
		n := uint64(binary.LittleEndian.Uint32(l.rest))
		if n > uint64(len(l.rest)-4) {
			return errFew
		}
		to[i], l.rest = l.rest[4:4+n], l.rest[4+n:]
	}
	return nil
}

// flags are booleans: packed, or in runs as levels are.
type flags struct{ levels }

func (f *flags) next(to []bool) error {
	_, err := f.levels.next(to, int64(len(to)))
	return err
}

func plainFlags(body []byte) decoder[bool] {
	return &flags{levels{buf: body, left: int64(len(body)) * 8, packed: true}}
}

func runFlags(body []byte) (*flags, error) {
	if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
		return nil, errFew
	}
	return &flags{levels{buf: body[4 : 4+binary.LittleEndian.Uint32(body)]}}, nil
}

// looked are values of a dictionary.
type looked[T any] struct {
	values []T
	at     *indexes
	buf    []uint32
}

func (d *looked[T]) next(to []T) error {
	if cap(d.buf) < len(to) {
		d.buf = make([]uint32, len(to))
	}
	at := d.buf[:len(to)]
	if err := d.at.next(at); err != nil {
		return err
	}
	for i, n := range at {
		if n >= uint32(len(d.values)) {
			return errors.New("a page names a value that its dictionary lacks")
		}
		to[i] = d.values[n]
	}
	return nil
}

// notRead names an encoding that is not read, or that a column of that type cannot have.
func notRead(e parquet.Encoding) error {
	return UnsupportedError{fmt.Errorf("has pages that are encoded in a way that is not read (encoding %d)", int(e))}
}
