package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
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
	next     func() (meta, body []byte, err error) // io.EOF at the end mark
	compress bool                                  // compressed buffers are read

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

// ours is an error in words of ours: the library's own may quote what it met.
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
	return broken(fmt.Sprintf("cannot be read: %v", plain(err)))
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

// end is io.EOF where nothing follows: what is behind an end mark would be lost.
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
