package table

import (
	"encoding/binary"
	"io"
)

// block is where a message lies in an Arrow file, by its footer.
type block struct{ offset, meta, body int64 }

const arrowMagic = "ARROW1"

// filed cuts an Arrow file of size bytes: the schema, which is its first message,
// then what the footer lists, dictionaries first.
func filed(f io.ReaderAt, size int64) (func() (meta, body []byte, err error), error) {
	var blocks []block
	footer, err := footerOf(f, size)
	if err == nil {
		err = guarded(func() (err error) { blocks, err = listed(footer, size); return err })
	}
	if err != nil {
		return nil, err
	}
	first, end := true, int64(8)
	return func() ([]byte, []byte, error) {
		switch {
		case first:
			first = false
			meta, body, err := streamed(&supply{io.NewSectionReader(f, 8, size-8), size - 8})()
			end += 8 + int64(len(meta)+len(body))
			return meta, body, err
		case len(blocks) == 0:
			return nil, nil, ended(f, end, size-tailBytes-int64(len(footer)))
		}
		b := blocks[0]
		blocks, end = blocks[1:], max(end, b.offset+b.meta+b.body)
		return b.read(f)
	}, nil
}

// ended is io.EOF where the footer, or an end mark, follows what it lists: rows that
// it does not list would be lost.
func ended(f io.ReaderAt, at, footer int64) error {
	var mark [8]byte
	if at == footer {
		return io.EOF
	}
	if _, err := f.ReadAt(mark[:], at); err != nil || at > footer-8 || number(mark[:]) != 0xffffffff {
		return broken("its footer does not list all that it holds")
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
