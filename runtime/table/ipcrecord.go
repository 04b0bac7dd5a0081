package table

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// nested is the first column of a schema whose values are lists, structs or other
// columns; such columns are not read.
func nested(s *arrow.Schema) (column, kind string) {
	for _, f := range s.Fields() {
		t := f.Type
		if d, ok := t.(*arrow.DictionaryType); ok {
			t = d.ValueType
		}
		if _, ok := t.(arrow.NestedType); ok || t.ID() == arrow.EXTENSION || t.ID() == arrow.DICTIONARY {
			return f.Name, t.Name()
		}
	}
	return "", ""
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
	case arrow.FixedWidthDataType:
		return n == 0 || wide(b[1], n, t)
	}
	return true // views: their values are looked up within their buffers
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
