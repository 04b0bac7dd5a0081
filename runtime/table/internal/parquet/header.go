package parquet

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
func (h *pageHeader) inner(t *thrift, of, id int64, kind byte) bool {
	if of == 8 && id == 7 && (kind == thriftTrue || kind == thriftFalse) {
		h.plain = kind == thriftFalse
		return true
	}
	if kind <= thriftByte || kind >= thriftDouble {
		return false
	}
	to := map[[2]int64]*int64{{5, 1}: &h.values, {5, 2}: &h.encoding, {5, 3}: &h.levels, {7, 1}: &h.values, {7, 2}: &h.encoding,
		{8, 1}: &h.values, {8, 4}: &h.encoding, {8, 5}: &h.defined, {8, 6}: &h.repeated}[[2]int64{of, id}]
	if to == nil {
		return false
	}
	*to = t.int()
	return true
}
