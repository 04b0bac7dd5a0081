package table

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"
)

// check judges a message: lists no longer than its metadata, fields that do not
// hold themselves, buffers inside of its body, and no more bytes after
// decompression than it can make.
func (f *frames) check(meta, body []byte) error {
	root := rootOf(meta)
	header, ok := root.child(messageHeader)
	if !ok {
		return brokenStructure
	}
	switch root.byte(messageKind) {
	case kindSchema:
		if f.schema {
			return broken("it has two schemas")
		}
		walk, err := checkSchema(header)
		f.schema, f.dictionaries, f.fields = true, len(walk.dictionaries), walk
		return err
	case kindDictionary:
		f.dictionaries--
		defer f.memory.keep()
		views := 0
		if f.fields != nil && f.fields.dictionaries[header.int64(dictionaryID)] {
			views = 1
		}
		if header, ok = header.child(dictionaryData); !ok {
			return brokenStructure
		}
		return f.checkBatch(header, body, views)
	case kindBatch:
		if f.dictionaries > 0 { // the library would take these rows for a dictionary
			return broken("its rows come before its dictionaries")
		}
		views := 0
		if f.fields != nil {
			views = f.fields.views
		}
		return f.checkBatch(header, body, views)
	}
	return broken("it holds a message that is neither schema nor rows")
}

// fields counts the fields of a schema while it walks them.
type fields struct {
	left, depth  int
	dictionaries map[int64]bool // by id; whether one's values are views
	views        int            // columns of views that are not dictionaries
}

// checkSchema walks all fields as the library will. A field takes 16 bytes at
// least: more of them than that are the same bytes met again and again, which
// takes for ever, or until the stack overflows.
func checkSchema(schema flat) (*fields, error) {
	f := &fields{left: len(schema.Bytes) / 16, dictionaries: map[int64]bool{}}
	if _, _, err := schema.structs(schemaNotes, 4); err != nil {
		return f, err
	}
	return f, f.walk(schema, schemaFields)
}

// deepest is how far fields may be inside each other; the library's own bound for
// arrays is the same.
const deepest = 64

func (f *fields) walk(of flat, list slot) error {
	children, err := of.tables(list)
	if err != nil {
		return err
	}
	f.depth++
	defer func() { f.depth-- }()
	for _, c := range children {
		if f.left--; f.left < 0 || f.depth > deepest {
			return broken("its schema holds itself, or is nested too deep")
		}
		if _, _, err := c.structs(fieldNotes, 4); err != nil {
			return err
		}
		if d, ok := c.child(fieldDictionary); ok {
			f.dictionaries[d.int64(dictionaryID)] = ofViews(c)
		} else if ofViews(c) {
			f.views++
		}
		if err := f.walk(c, fieldChildren); err != nil {
			return err
		}
	}
	return nil
}

func ofViews(field flat) bool {
	kind := field.byte(fieldType)
	return kind == typeBinaryView || kind == typeUtf8View
}

// checkBatch compares the buffers of a batch with its body, and allows what they take.
// So many of its columns are views.
func (f *frames) checkBatch(batch flat, body []byte, views int) error {
	if _, _, err := batch.structs(batchNodes, 16); err != nil {
		return err
	}
	first, n, err := batch.structs(batchBuffers, 16)
	if err != nil {
		return err
	}
	if err := checkViews(batch, n, views); err != nil {
		return err
	}
	compression, compressed := batch.child(batchCompression)
	stored, total := int64(0), int64(0)
	for i := range n {
		at := batch.Bytes[first+16*i:]
		offset, length := number(at), number(at[8:])
		if offset < 0 || length < 0 || offset > int64(len(body)) || length > int64(len(body))-offset {
			return broken("a column lies outside of its message")
		}
		if stored += length; stored > int64(len(body)) {
			return broken("its columns lie over each other")
		}
		if compressed && length > 0 {
			if length, err = unpackedSize(compression.byte(compressionCodec), body[offset:offset+length]); err != nil {
				return err
			}
		}
		if total += length; total > mostUnpacked(len(body)) {
			return errBomb
		}
	}
	f.memory.allow(total, n)
	return nil
}

const errBomb = broken("it claims to be more than 64 MiB and 256 times its size once it is decompressed; accepted: " +
	"smaller batches, or no compression")

// mostUnpacked bounds what a message of n bytes may grow to. LZ4 makes at most 255
// bytes of one; zstd can make thousands, and of a table only does where nearly all
// of it is one value.
func mostUnpacked(n int) int64 { return 64<<20 + 256*int64(n) }

// checkViews checks that each column of views states how many buffers it has, since the library reads on
// behind the list where it does not.
func checkViews(batch flat, buffers, views int) error {
	first, n, err := batch.structs(batchViews, 8)
	if err == nil && n < views {
		return brokenStructure
	}
	for i := range n {
		if more := number(batch.Bytes[first+8*i:]); more < 0 || more > int64(buffers) {
			return brokenStructure
		}
	}
	return err
}

// unpackedSize returns what a compressed buffer says it becomes; -1 says that it is
// stored as it is. A zstd frame also states a window, which its reader allocates.
func unpackedSize(codec byte, b []byte) (int64, error) {
	if len(b) < 8 {
		return 0, brokenStructure
	}
	size := number(b)
	if size == -1 {
		return int64(len(b)), nil
	}
	if size < 0 || codec != codecLZ4 && codec != codecZstd {
		return 0, brokenStructure
	}
	var h zstd.Header
	if codec == codecZstd && (h.Decode(b[8:]) != nil || h.WindowSize > uint64(max(size, widest))) {
		return 0, brokenStructure
	}
	return size, nil
}

// widest is the greatest window that zstd uses below its ultra levels.
const widest = 8 << 20

// nested returns the first column of a schema whose values are lists, structs or other
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
			return broken(fmt.Sprintf("the views of column %d show more text than 64 MiB and 16 times its bytes; accepted: "+
				"smaller batches", i+1))
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
func ascending(offsets, n, bytes int, offset func(int) int64) bool {
	if n >= offsets || offset(0) < 0 || offset(n) > int64(bytes) {
		return false
	}
	for i := range n {
		if offset(i) > offset(i+1) {
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
	length, buffer, place := word(0), word(2), word(3)
	if length <= viewInline {
		return length >= 0
	}
	return buffer >= 0 && buffer < int64(len(b)-2) && place >= 0 &&
		place+length <= min(int64(size(b[2+buffer])), math.MaxInt32)
}

// viewedBytes returns how much text the views of a column show together: any number of them may
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

// mostShown returns what the text of a column may be, and what one batch of ours holds.
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

// allowance gives the library the memory that a message needs, and no more. The
// library reads past the end of a list of buffers where a column needs one that is
// not in it, and takes what it meets there for a length.
type allowance struct{ left, last, kept int64 }

// allow makes room for one message: bytes in a number of buffers, each rounded up,
// and all dictionaries so far, which it may put together anew.
func (a *allowance) allow(bytes int64, buffers int) {
	a.last = bytes + 128*int64(buffers) + 1024
	a.left = a.last + a.kept
}

// keep notes that the last message was a dictionary.
func (a *allowance) keep() { a.kept += a.last }

func (a *allowance) take(size int) {
	if a.left -= int64(size); size < 0 || a.left < 0 {
		panic(brokenStructure) // the library has no other way; it and we catch it
	}
}

// Allocate implements memory.Allocator.
func (a *allowance) Allocate(size int) []byte {
	a.take(size)
	return memory.DefaultAllocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (a *allowance) Reallocate(size int, b []byte) []byte {
	a.take(max(0, size-len(b)))
	return memory.DefaultAllocator.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (a *allowance) Free(b []byte) { memory.DefaultAllocator.Free(b) }
