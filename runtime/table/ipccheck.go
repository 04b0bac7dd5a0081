package table

import (
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
	views        int            // columns of views that are no dictionaries
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
	from, n, err := batch.structs(batchBuffers, 16)
	if err != nil {
		return err
	}
	if err := checkViews(batch, n, views); err != nil {
		return err
	}
	compression, compressed := batch.child(batchCompression)
	if compressed && !f.compress {
		return broken("it is compressed; accepted: what weir wrote")
	}
	stored, total := int64(0), int64(0)
	for i := range n {
		at := batch.Bytes[from+16*i:]
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

const errBomb = broken("it claims to be more than 64 MiB and 256 times its size once it is decompressed; accepted: smaller batches, or no compression")

// mostUnpacked bounds what a message of n bytes may grow to. LZ4 makes at most 255
// bytes of one; zstd can make thousands, and of a table only does where nearly all
// of it is one value.
func mostUnpacked(n int) int64 { return 64<<20 + 256*int64(n) }

// checkViews: each column of views has to state how many buffers it has, since the library
// reads on behind the list where it does not.
func checkViews(batch flat, buffers, views int) error {
	from, n, err := batch.structs(batchViews, 8)
	if err == nil && n < views {
		return brokenStructure
	}
	for i := range n {
		if more := number(batch.Bytes[from+8*i:]); more < 0 || more > int64(buffers) {
			return brokenStructure
		}
	}
	return err
}

// unpackedSize is what a compressed buffer says it becomes; -1 says that it is
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
