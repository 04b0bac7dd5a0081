package table

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// spelt holds cells of one column as they stand in a file, by the bits of their values: most columns have few values,
// and to spell one takes longer than to copy it. Each value has one place, where the last value of that place is.
type spelt [1 << 10]speltCell

// speltCell is one cell; longer ones are spelled each time.
type speltCell struct {
	bits uint64
	size uint8 // of the text plus 1; 0: nothing is here
	text [23]byte
}

// of returns the place of a value, empty where another value was there; nil where values are not found by bits, or the
// cell is missing.
func (s *spelt) of(by *speller, row int) *speltCell {
	if by.bits == nil || by.array.IsNull(row) {
		return nil
	}
	bits := by.bits(row)
	at := &s[bits*0x9e3779b97f4a7c15>>54] // the upper bits of a product with 2^64 over the golden ratio
	if at.bits != bits {
		at.bits, at.size = bits, 0
	}
	return at
}

// learn keeps the text of the value that of was asked for.
func (c *speltCell) learn(text []byte) {
	if c != nil && len(text) <= len(c.text) {
		c.size = uint8(copy(c.text[:], text) + 1)
	}
}

// bitsOf tells the values of an array apart; nil where they have more than 64 bits.
func bitsOf(a arrow.Array) func(i int) uint64 {
	switch a := a.(type) {
	case *array.Int32:
		values := a.Int32Values()
		return func(i int) uint64 { return uint64(values[i]) }
	case *array.Int64:
		values := a.Int64Values()
		return func(i int) uint64 { return uint64(values[i]) }
	case *array.Float64:
		values := a.Float64Values()
		return func(i int) uint64 { return math.Float64bits(values[i]) }
	case *array.Float32:
		values := a.Float32Values()
		return func(i int) uint64 { return uint64(math.Float32bits(values[i])) }
	}
	return nil
}
