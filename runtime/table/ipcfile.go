package table

import (
	"bufio"
	"encoding/binary"
	"io"
)

// block is where a message lies in an Arrow file, by its footer.
type block struct{ offset, meta, body int64 }

const arrowMagic = "ARROW1"

// filed cuts an Arrow file of size bytes: the schema and what the footer lists,
// dictionaries first. The footer is what counts: what lies behind the mark at the
// front is a message of the schema in most files, and in those of Polars is not.
func filed(f io.ReaderAt, size int64) (func() (meta, body []byte, err error), error) {
	var blocks []block
	var schema []byte
	footer, err := footerOf(f, size)
	if err == nil {
		err = guarded(func() (err error) { blocks, err = listed(footer, size); return err })
	}
	if err == nil {
		err = guarded(func() (err error) { schema, err = schemaOf(footer); return err })
	}
	if err != nil {
		return nil, err
	}
	end := int64(0)
	return func() ([]byte, []byte, error) {
		switch {
		case schema != nil:
			meta := schema
			schema = nil
			return meta, nil, nil
		case len(blocks) == 0:
			return nil, nil, ended(f, end, size-tailBytes-int64(len(footer)))
		}
		b := blocks[0]
		blocks, end = blocks[1:], max(end, b.offset+b.meta+b.body)
		return b.read(f)
	}, nil
}

// schemaOf is the schema of a footer as a message: a head of 32 bytes that points
// into the footer behind it. Offsets are relative, so the footer stays as it is.
func schemaOf(footer []byte) ([]byte, error) {
	schema, ok := rootOf(footer).child(footerSchema)
	if !ok {
		return nil, brokenStructure
	}
	const root, directory, header = 16, 4, 24 // where they are
	head := make([]byte, 32, 32+len(footer))
	put := func(at int, v uint16) { binary.LittleEndian.PutUint16(head[at:], v) }
	put(0, root)
	for i, v := range []uint16{10, 12, 4, 6, header - root} { // sizes of directory and table, places of version, kind, header
		put(directory+2*i, v)
	}
	put(root, root-directory)
	put(root+4, metadataV5)
	head[root+6] = kindSchema
	binary.LittleEndian.PutUint32(head[header:], uint32(schema.Pos)+uint32(len(head))-header)
	return append(head, footer...), nil
}

// ended is io.EOF where the footer, or an end mark, follows what it lists: rows that
// it does not list would be lost. Before Arrow 0.15 the mark is four bytes of nothing.
// Where the footer lists nothing, end is 0.
func ended(f io.ReaderAt, end, footer int64) error {
	if end == 0 {
		return unlisted(f, footer)
	}
	var mark [8]byte
	gap := min(footer-end, 8)
	if gap > 0 {
		if _, err := f.ReadAt(mark[:gap], end); err != nil {
			return cut(err)
		}
	}
	if gap < 0 || gap < 8 && number(mark[:]) != 0 || gap == 8 && number(mark[:]) != 0xffffffff {
		return errUnlisted
	}
	return io.EOF
}

const errUnlisted = broken("its footer does not list all that it holds")

// unlisted looks for messages behind the schema of a file whose footer lists none.
// Nobody says how long a bare schema is; a message begins with a mark at a multiple
// of eight bytes, which the text and the offsets of a schema cannot hold.
func unlisted(f io.ReaderAt, footer int64) error {
	r := bufio.NewReader(io.NewSectionReader(f, 8, footer-8))
	var word [8]byte
	for at := int64(8); at+8 <= footer; at += 8 {
		if _, err := io.ReadFull(r, word[:]); err != nil {
			return cut(err)
		}
		begins := binary.LittleEndian.Uint32(word[:]) == 0xffffffff && number(word[:]) != 0xffffffff
		if begins && at > 8 {
			return errUnlisted
		}
	}
	return io.EOF
}

// tailBytes are the length of the footer and the mark behind it.
const tailBytes = 4 + int64(len(arrowMagic))

func footerOf(f io.ReaderAt, size int64) ([]byte, error) {
	var end [tailBytes]byte
	if size < 8+tailBytes {
		return nil, errTruncated
	}
	if _, err := f.ReadAt(end[:], size-tailBytes); err != nil {
		return nil, cut(err)
	}
	if string(end[4:]) != arrowMagic {
		return nil, broken("it does not end with its footer: the file is truncated")
	}
	n := int64(int32(binary.LittleEndian.Uint32(end[:])))
	if n <= 0 || n > size-tailBytes-8 {
		return nil, errLonger
	}
	footer := make([]byte, n)
	_, err := f.ReadAt(footer, size-tailBytes-n)
	return footer, cut(err)
}

// listed are the blocks of a footer, all inside the file.
func listed(footer []byte, size int64) ([]block, error) {
	var blocks []block
	for _, slot := range []slot{footerDictionaries, footerBatches} {
		from, n, err := rootOf(footer).structs(slot, 24)
		if err != nil {
			return nil, err
		}
		for i := range n {
			at := footer[from+24*i:]
			b := block{number(at), int64(int32(binary.LittleEndian.Uint32(at[8:]))), number(at[16:])}
			if b.offset < 0 || b.meta < 8 || b.body < 0 || b.offset > size || b.meta > size-b.offset || b.body > size-b.offset-b.meta {
				return nil, broken("its footer points outside of the file")
			}
			blocks = append(blocks, b)
		}
	}
	return blocks, nil
}

func number(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

// read gives the message of a block: a length of four bytes, since Arrow 0.15 with
// a mark of four bytes before it, and then as much as the footer says.
func (b block) read(f io.ReaderAt) (meta, body []byte, err error) {
	meta, body = make([]byte, b.meta), make([]byte, b.body)
	if _, err := f.ReadAt(meta, b.offset); err != nil {
		return nil, nil, cut(err)
	}
	if _, err := f.ReadAt(body, b.offset+b.meta); err != nil {
		return nil, nil, cut(err)
	}
	if binary.LittleEndian.Uint32(meta) == 0xffffffff {
		return meta[8:], body, nil
	}
	return meta[4:], body, nil
}
