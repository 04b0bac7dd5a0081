package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// broken says what is wrong with the structure of an Arrow file, in words of ours.
type broken string

func (b broken) Error() string { return string(b) }

const brokenStructure = broken("its structure is broken")

// frames cuts an Arrow stream or file into messages and judges each before the
// library sees it. The library believes every length that it reads: it allocates
// before it looks whether the bytes are there, and follows offsets wherever they
// lead.
type frames struct {
	next func() (meta, body []byte, err error) // io.EOF at the end mark

	schema       bool // it was read
	fields       *fields
	dictionaries int // how many have to come before rows
	memory       allowance
}

// reader begins to read: the schema.
func (f *frames) reader() (*ipc.Reader, error) {
	r, err := ipc.NewReaderFromMessageReader(f, ipc.WithAllocator(&f.memory))
	if err != nil {
		return nil, ours(err)
	}
	return r, nil
}

// Message implements ipc.MessageReader.
func (f *frames) Message() (*ipc.Message, error) {
	meta, body, err := f.next()
	if err != nil {
		return nil, err
	}
	if err := guarded(func() error { return f.check(meta, body) }); err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// Retain implements ipc.MessageReader: there is nothing to count.
func (f *frames) Retain() {}

// Release implements ipc.MessageReader.
func (f *frames) Release() {}

// guarded calls what reads bytes by offsets that those bytes state.
func guarded(do func() error) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = brokenStructure
		}
	}()
	return do()
}

// ours returns an error in words of ours: the library's own may quote what it met.
func ours(err error) error {
	var b broken
	if errors.As(err, &b) {
		return b
	}
	return brokenStructure
}

// supply gives bytes that are there: memory follows what was read, not what a
// length claims.
type supply struct {
	r    io.Reader
	left int64 // bytes that can still come; -1 where nobody knows
}

const (
	errLonger    = broken("it claims more bytes than the file holds: the file is truncated or damaged")
	errTruncated = broken("it ends in the middle of a message: the file is truncated")
	errNoMark    = broken("it ends without the end mark of Arrow streams: the file is truncated")
)

// atOnce is how much is allocated for a length that cannot be compared with a size.
const atOnce = 1 << 16

func (s *supply) take(n int64) ([]byte, error) {
	if n < 0 || s.left >= 0 && n > s.left {
		return nil, errLonger
	}
	if s.left >= 0 {
		s.left -= n
		b := make([]byte, n)
		_, err := io.ReadFull(s.r, b)
		return b, cut(err)
	}
	var b bytes.Buffer
	b.Grow(int(min(n, atOnce)))
	if _, err := io.CopyN(&b, s.r, n); err != nil {
		return nil, cut(err)
	}
	return b.Bytes(), nil
}

func cut(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errTruncated
	}
	return broken(fmt.Sprintf("cannot be read: %v", reason(err)))
}

// streamed cuts a stream: continuation mark, length, metadata, body.
func streamed(s *supply) func() (meta, body []byte, err error) {
	return func() ([]byte, []byte, error) {
		var prefix [8]byte
		if n, err := io.ReadFull(s.r, prefix[:]); err != nil && n > 0 {
			return nil, nil, cut(err)
		} else if err != nil {
			return nil, nil, errNoMark
		}
		if s.left >= 0 {
			s.left = max(0, s.left-8)
		}
		if binary.LittleEndian.Uint32(prefix[:]) != 0xffffffff {
			return nil, nil, brokenStructure
		}
		length := int32(binary.LittleEndian.Uint32(prefix[4:]))
		if length == 0 {
			return nil, nil, s.end()
		}
		return message(s, int64(length))
	}
}

// end returns io.EOF where nothing follows: what is behind an end mark would be lost.
func (s *supply) end() error {
	if n, _ := io.ReadFull(s.r, make([]byte, 1)); n > 0 {
		return broken("it goes on behind its end mark")
	}
	return io.EOF
}

// message reads metadata of n bytes and the body that they announce.
func message(s *supply, n int64) (meta, body []byte, err error) {
	if meta, err = s.take(n); err != nil {
		return nil, nil, err
	}
	var length int64
	err = guarded(func() error { length = rootOf(meta).int64(messageBody); return nil })
	if err != nil {
		return nil, nil, err
	}
	body, err = s.take(length)
	return meta, body, err
}

// block is where a message lies in an Arrow file, by its footer.
type block struct{ offset, meta, body int64 }

const arrowMagic = "ARROW1"

// filed cuts an Arrow file of size bytes: the schema and what the footer lists,
// dictionaries first. The footer is what counts: what lies behind the mark at the
// front is a message of the schema in most files, and in files of Polars is not.
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

// schemaOf returns the schema of a footer as a message: a head of 32 bytes that points
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
	// sizes of directory and table, places of version, kind, header
	for i, v := range []uint16{10, 12, 4, 6, header - root} {
		put(directory+2*i, v)
	}
	put(root, root-directory)
	put(root+4, metadataV5)
	head[root+6] = kindSchema
	binary.LittleEndian.PutUint32(head[header:], uint32(schema.Pos)+uint32(len(head))-header)
	return append(head, footer...), nil
}

// ended returns io.EOF where the footer, or an end mark, follows what it lists: rows that
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
	for place := int64(8); place+8 <= footer; place += 8 {
		if _, err := io.ReadFull(r, word[:]); err != nil {
			return cut(err)
		}
		begins := binary.LittleEndian.Uint32(word[:]) == 0xffffffff && number(word[:]) != 0xffffffff
		if begins && place > 8 {
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

// listed returns the blocks of a footer, all inside the file.
func listed(footer []byte, size int64) ([]block, error) {
	var blocks []block
	for _, slot := range []slot{footerDictionaries, footerBatches} {
		first, n, err := rootOf(footer).structs(slot, 24)
		if err != nil {
			return nil, err
		}
		for i := range n {
			at := footer[first+24*i:]
			b := block{number(at), int64(int32(binary.LittleEndian.Uint32(at[8:]))), number(at[16:])}
			if b.offset < 0 || b.meta < 8 || b.body < 0 || b.offset > size || b.meta > size-b.offset ||
				b.body > size-b.offset-b.meta {
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

// flat is a table of the flatbuffers that describe Arrow messages. Reading it
// panics where an offset leads out of it: call it guarded.
type flat struct{ flatbuffers.Table }

// slot is where a field's offset stands in the directory of its table, by the order
// of Arrow's Message.fbs, Schema.fbs and File.fbs.
type slot = flatbuffers.VOffsetT

const (
	messageKind   slot = 6
	messageHeader slot = 8
	messageBody   slot = 10

	schemaFields slot = 6
	schemaNotes  slot = 8

	fieldType       slot = 8
	fieldDictionary slot = 12
	fieldChildren   slot = 14
	fieldNotes      slot = 16

	dictionaryID slot = 4 // in a field

	dictionaryData slot = 6 // in a message

	batchNodes       slot = 6
	batchBuffers     slot = 8
	batchCompression slot = 10
	batchViews       slot = 12

	compressionCodec slot = 4

	footerSchema       slot = 6
	footerDictionaries slot = 8
	footerBatches      slot = 10
)

// Kinds of message, of compression, and of columns whose values are views.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3

	codecLZ4  = 0
	codecZstd = 1

	typeBinaryView = 23
	typeUtf8View   = 24

	metadataV5 = 4 // the version of Arrow 1.0 and later
)

func rootOf(b []byte) flat {
	return flat{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

func (f flat) int64(s slot) int64 {
	if o := f.Offset(s); o != 0 {
		return f.GetInt64(f.Pos + flatbuffers.UOffsetT(o))
	}
	return 0
}

func (f flat) byte(s slot) byte {
	if o := f.Offset(s); o != 0 {
		return f.GetByte(f.Pos + flatbuffers.UOffsetT(o))
	}
	return 0
}

// child returns a table in a field; ok is false where the field is not there.
func (f flat) child(s slot) (_ flat, ok bool) {
	o := f.Offset(s)
	if o == 0 {
		return flat{}, false
	}
	return flat{flatbuffers.Table{Bytes: f.Bytes, Pos: f.Indirect(f.Pos + flatbuffers.UOffsetT(o))}}, true
}

// structs returns where a list of structs of size bytes begins, and how many they are:
// no more than there are bytes for.
func (f flat) structs(s slot, size int) (first, n int, err error) {
	o := f.Offset(s)
	if o == 0 {
		return 0, 0, nil
	}
	first, n = int(f.Vector(flatbuffers.UOffsetT(o))), f.VectorLen(flatbuffers.UOffsetT(o))
	if first > len(f.Bytes) || n > (len(f.Bytes)-first)/size {
		return 0, 0, broken("its metadata claim a longer list than they hold")
	}
	return first, n, nil
}

// tables returns a list of tables.
func (f flat) tables(s slot) ([]flat, error) {
	first, n, err := f.structs(s, 4)
	list := make([]flat, n)
	for i := range list {
		list[i] = flat{flatbuffers.Table{Bytes: f.Bytes, Pos: f.Indirect(flatbuffers.UOffsetT(first + 4*i))}}
	}
	return list, err
}
