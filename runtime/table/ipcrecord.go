package table

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// nested is the first column of a schema whose values are lists, structs or other
// columns; such columns are not read.
func nested(s *arrow.Schema) (at int, kind string) {
	for i, f := range s.Fields() {
		t := f.Type
		if d, ok := t.(*arrow.DictionaryType); ok {
			t = d.ValueType
		}
		if _, ok := t.(arrow.NestedType); ok || t.ID() == arrow.EXTENSION || t.ID() == arrow.DICTIONARY {
			return i, t.Name()
		}
	}
	return -1, ""
}

// checkRecord finds columns that are shorter than they say: reading a value beyond
// the end panics, wherever it happens. A record without any column of bytes could
// state any number of rows.
func checkRecord(r arrow.Record) error {
	stored := false
	for i, c := range r.Columns() {
		if int64(c.Len()) != r.NumRows() || c.Data().Offset() != 0 || c.NullN() > c.Len() {
			return misfit(r, i)
		}
		stored = stored || c.DataType().ID() != arrow.NULL
		if !fits(c.Data()) {
			return misfit(r, i)
		}
		if viewedBytes(c) > mostShown(c.Data()) {
			return broken(fmt.Sprintf("the views of column %d show more text than 64 MiB and 16 times its bytes; accepted: smaller batches", i+1))
		}
	}
	if r.NumRows() > 0 && !stored {
		return broken("it has rows without any column that holds values")
	}
	return nil
}

func misfit(r arrow.Record, i int) error {
	return broken(fmt.Sprintf("column %d holds less than its rows need", i+1))
}

// fits reports whether the buffers of a flat column hold its values.
func fits(d arrow.ArrayData) bool {
	n, b := d.Len(), d.Buffers()
	if d.DataType().ID() == arrow.NULL {
		return true
	}
	if b[0] != nil && b[0].Len() > 0 && b[0].Len() < (n+7)/8 {
		return false
	}
	switch t := d.DataType().(type) {
	case *arrow.DictionaryType:
		return n == 0 || wide(b[1], n, t.IndexType) && fits(d.Dictionary()) && known(d)
	case *arrow.StringType, *arrow.BinaryType:
		return n == 0 || ascending(size(b[1])/4, n, size(b[2]), func(i int) int64 {
			return int64(int32(binary.LittleEndian.Uint32(b[1].Bytes()[4*i:])))
		})
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return n == 0 || ascending(size(b[1])/8, n, size(b[2]), func(i int) int64 { return number(b[1].Bytes()[8*i:]) })
	case arrow.BinaryViewDataType:
		return n == 0 || viewed(d)
	case arrow.FixedWidthDataType:
		return n == 0 || wide(b[1], n, t)
	}
	return false
}

func size(b *memory.Buffer) int {
	if b == nil {
		return 0
	}
	return b.Len()
}

// wide reports whether b holds n values of a fixed width.
func wide(b *memory.Buffer, n int, t arrow.DataType) bool {
	f, ok := t.(arrow.FixedWidthDataType)
	return ok && f.BitWidth() > 0 && n <= size(b)*8/f.BitWidth()
}

// ascending reports whether n values lie between offsets in order and inside of
// their bytes.
func ascending(offsets, n, bytes int, at func(int) int64) bool {
	if n >= offsets || at(0) < 0 || at(n) > int64(bytes) {
		return false
	}
	for i := range n {
		if at(i) > at(i+1) {
			return false
		}
	}
	return true
}

// viewed reports whether every value of a column of views lies in the bytes that it has.
func viewed(d arrow.ArrayData) bool {
	b, n := d.Buffers(), d.Len()
	if size(b[1])/viewBytes < n {
		return false
	}
	for i := range n {
		if isNull := size(b[0]) > 0 && !bitutil.BitIsSet(b[0].Bytes(), i); !isNull && !inside(b, b[1].Bytes()[viewBytes*i:]) {
			return false
		}
	}
	return true
}

const (
	viewBytes  = 16
	viewInline = 12 // bytes of a text that are in the view itself
)

// inside judges one view: behind the length of a text stand the text itself, or its
// first four bytes, the number of its buffer, and its place there.
func inside(b []*memory.Buffer, view []byte) bool {
	word := func(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(view[4*i:]))) }
	length, in, at := word(0), word(2), word(3)
	if length <= viewInline {
		return length >= 0
	}
	return in >= 0 && in < int64(len(b)-2) && at >= 0 && at+length <= min(int64(size(b[2+in])), math.MaxInt32)
}

// viewedBytes is how much text the views of a column show together: any number of them may
// show the same bytes.
func viewedBytes(c arrow.Array) (bytes int64) {
	views, ok := c.(*array.StringView)
	if !ok {
		return 0
	}
	for i := range views.Len() {
		if views.IsValid(i) {
			bytes += int64(views.ValueLen(i))
		}
	}
	return bytes
}

// mostShown is what the text of a column may be, and what one batch of ours holds.
func mostShown(d arrow.ArrayData) int64 {
	bytes := int64(0)
	for _, b := range d.Buffers() {
		bytes += int64(size(b))
	}
	return min(64<<20+16*bytes, math.MaxInt32)
}

// known reports whether every index of a dictionary's column is one of its values.
func known(d arrow.ArrayData) bool {
	values := d.Dictionary().Len()
	a := array.NewDictionaryData(d)
	for i := range a.Len() {
		if a.IsValid(i) && uint64(a.GetValueIndex(i)) >= uint64(values) {
			return false
		}
	}
	return true
}
