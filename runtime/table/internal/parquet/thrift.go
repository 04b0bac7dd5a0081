package parquet

import (
	"encoding/binary"
)

// thrift reads the compact protocol of Parquet's headers, as far as they are
// needed. It allocates nothing: a length that the bytes present cannot hold makes
// it bad, before anybody makes room for it.
type thrift struct {
	buf []byte
	pos int
	bad bool
}

// maxNesting bounds how deep structs and lists may lie in each other.
const maxNesting = 32

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

func (t *thrift) byte() byte {
	if t.pos >= len(t.buf) {
		t.bad = true
	}
	if t.bad {
		return 0
	}
	t.pos++
	return t.buf[t.pos-1]
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.buf[t.pos:])
	if n <= 0 {
		t.bad = true
		return 0
	}
	t.pos += n
	return v
}

func (t *thrift) int() int64 {
	u := t.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// count returns a number of things of at least one byte each.
func (t *thrift) count(n uint64) int {
	if n > uint64(len(t.buf)-t.pos) {
		t.bad = true
		return 0
	}
	return int(n)
}

// each calls take for the fields of a struct; what take does not read is skipped.
func (t *thrift) each(depth int, take func(id int64, kind byte) bool) {
	id := int64(0)
	for !t.bad && depth < maxNesting {
		h := t.byte()
		if h == 0 {
			return
		}
		if id += int64(h >> 4); h>>4 == 0 {
			id = t.int()
		}
		if !take(id, h&15) {
			t.skip(h&15, depth+1)
		}
	}
	t.bad = true
}

// skip moves over one value.
func (t *thrift) skip(kind byte, depth int) {
	switch {
	case kind == thriftTrue || kind == thriftFalse:
	case kind == thriftByte:
		t.byte()
	case kind > thriftByte && kind < thriftDouble:
		t.uvarint()
	case kind == thriftDouble:
		t.pos += t.count(8)
	case kind == thriftBinary:
		t.pos += t.count(t.uvarint())
	case kind == thriftStruct:
		t.each(depth, func(int64, byte) bool { return false })
	default:
		t.skipAll(kind, depth)
	}
}

// skipAll moves over a list, a set or a map.
func (t *thrift) skipAll(kind byte, depth int) {
	if t.bad = t.bad || depth >= maxNesting || kind < thriftList || kind > thriftStruct; t.bad {
		return
	}
	kinds := t.elements(kind)
	n := t.count(kinds.n)
	for range n {
		for _, k := range kinds.of {
			if k == thriftTrue || k == thriftFalse {
				k = thriftByte // outside of a struct a boolean is a byte
			}
			if t.skip(k, depth+1); t.bad {
				return
			}
		}
	}
}

type elements struct {
	n  uint64
	of []byte
}

func (t *thrift) elements(kind byte) elements {
	if kind == thriftMap {
		n := t.uvarint()
		if n == 0 {
			return elements{}
		}
		b := t.byte()
		return elements{n, []byte{b >> 4, b & 15}}
	}
	b := t.byte()
	n := uint64(b >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	return elements{n, []byte{b & 15}}
}

// pageKind is the kind of a page of Parquet, by its number there.
type pageKind int64

const (
	dataPage       pageKind = 0
	dictionaryPage pageKind = 2
	dataPageV2     pageKind = 3
)

// pageHeader is what a page says of itself.
type pageHeader struct {
	kind             pageKind
	packed, unpacked int64 // bytes on disk, and decompressed
	crc              *uint32
	values           int64 // missing ones too
	encoding         int64
	levels           int64 // encoding of the definition levels
	defined          int64 // bytes of definition levels, in a page of version 2
	repeated         int64 // and of repetition levels
	plain            bool  // a page of version 2 that is not compressed
}

// header reads one; t.bad tells that there are too few bytes, or none that are one.
func (t *thrift) header() (h pageHeader) {
	t.each(0, func(id int64, kind byte) bool {
		if kind == thriftStruct && (id == 5 || id == 7 || id == 8) {
			h.values, h.encoding = -1, -1
			t.each(1, func(inner int64, kind byte) bool { return h.inner(t, id, inner, kind) })
			return true
		}
		if kind <= thriftByte || kind >= thriftDouble {
			return false
		}
		switch id {
		case 1:
			h.kind = pageKind(t.int())
		case 2:
			h.unpacked = t.int()
		case 3:
			h.packed = t.int()
		case 4:
			sum := uint32(t.int())
			h.crc = &sum
		default:
			return false
		}
		return true
	})
	return h
}

// inner reads a field of the header within: data page (5), dictionary (7), data
// page of version 2 (8).
func (h *pageHeader) inner(t *thrift, field, id int64, kind byte) bool {
	if field == 8 && id == 7 && (kind == thriftTrue || kind == thriftFalse) {
		h.plain = kind == thriftFalse
		return true
	}
	if kind <= thriftByte || kind >= thriftDouble {
		return false
	}
	target := map[[2]int64]*int64{{5, 1}: &h.values, {5, 2}: &h.encoding, {5, 3}: &h.levels, {7, 1}: &h.values,
		{7, 2}: &h.encoding,
		{8, 1}: &h.values, {8, 4}: &h.encoding, {8, 5}: &h.defined, {8, 6}: &h.repeated}[[2]int64{field, id}]
	if target == nil {
		return false
	}
	*target = t.int()
	return true
}
