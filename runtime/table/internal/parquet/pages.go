package parquet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// maxPageHeader bounds a header; statistics in it can be long.
const maxPageHeader = 1 << 20

// pages reads the pages of one column chunk. It decides what a page may hold and
// how large it may be: libraries read past the end of what is damaged, take an
// empty page for the end of the chunk, and ask for the memory that a header claims.
type pages struct {
	in         *bufio.Reader
	left       int64 // bytes of the chunk not yet read
	unpack     codec
	column     *schema.Column
	dictionary []byte // plain, words values
	words      int64

	number   int // of the current data page
	encoding parquet.Encoding
	body     []byte // its values, there in number
	there    int64
	levels   levels
	values   int64 // not yet read, missing ones too
}

func newPages(r io.Reader, size int64, unpack codec, column *schema.Column) *pages {
	return &pages{in: bufio.NewReaderSize(r, int(min(max(size, 1<<8), 1<<16))), left: size, unpack: unpack, column: column}
}

// advance reads up to the next data page with values; io.EOF after the last.
func (p *pages) advance() error {
	for p.values == 0 {
		h, err := p.header()
		if err != nil {
			return err
		}
		body, err := p.fetch(h)
		if err != nil {
			return err
		}
		switch h.kind {
		case dictionaryPage:
			err = p.remember(h, body)
		case dataPage, dataPageV2:
			err = p.data(h, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pages) header() (h pageHeader, err error) {
	if p.left == 0 {
		return h, io.EOF
	}
	for n := 256; ; n *= 4 {
		if n > p.in.Size() {
			p.in = bufio.NewReaderSize(p.in, n)
		}
		b, err := p.in.Peek(int(min(int64(n), p.left)))
		if err != nil && err != io.EOF {
			return h, UnreadableError{err}
		}
		t := &thrift{buf: b}
		if h = t.header(); !t.bad {
			p.in.Discard(t.pos)
			p.left -= int64(t.pos)
			return h, p.bounded(h)
		}
		if int64(n) >= p.left || n >= maxPageHeader || err == io.EOF {
			return h, fmt.Errorf("the header of a page cannot be read")
		}
	}
}

func (p *pages) bounded(h pageHeader) error {
	switch {
	case h.packed < 0 || h.packed > p.left || h.unpacked < 0 || h.values < 0 || h.values > 1<<31-1:
		return fmt.Errorf("the header of a page cannot be true")
	case h.unpacked > maxPage || h.packed > maxPage:
		return UnsupportedError{fmt.Errorf("has a page larger than 1 GiB, which is not read; write smaller row groups")}
	case h.defined < 0 || h.repeated < 0 || h.defined+h.repeated > min(h.packed, h.unpacked):
		return fmt.Errorf("the header of a page cannot be true")
	}
	return nil
}

// fetch reads a page, checks its sum if it has one, and decompresses it; levels of
// a page of version 2 lie before what is compressed.
func (p *pages) fetch(h pageHeader) ([]byte, error) {
	packed := make([]byte, h.packed)
	if _, err := io.ReadFull(p.in, packed); err != nil {
		return nil, UnreadableError{err}
	}
	p.left -= h.packed
	if h.crc != nil && *h.crc != crc32.ChecksumIEEE(packed) {
		return nil, fmt.Errorf("a page does not have the checksum that it says")
	}
	if h.kind != dataPageV2 {
		return p.unpack(packed, int(h.unpacked))
	}
	before := h.defined + h.repeated
	if h.plain {
		return sized(packed, int(h.unpacked))
	}
	rest, err := p.unpack(packed[before:], int(h.unpacked-before))
	return append(packed[:before:before], rest...), err
}

func (p *pages) remember(h pageHeader, body []byte) error {
	if h.values*int64(p.width()) > int64(len(body)) || p.width() == 0 || p.dictionary != nil {
		return fmt.Errorf("a dictionary has fewer values than it says, or is one too many")
	}
	if e := parquet.Encoding(h.encoding); e != parquet.Encodings.Plain && e != parquet.Encodings.PlainDict {
		return notRead(e)
	}
	p.dictionary, p.words = body, h.values
	return nil
}

// width returns the least number of bytes of a plain value, 0 of a boolean.
func (p *pages) width() int {
	switch p.column.PhysicalType() {
	case parquet.Types.Int64, parquet.Types.Double:
		return 8
	case parquet.Types.Int32, parquet.Types.Float, parquet.Types.ByteArray:
		return 4 // of a text: its length
	case parquet.Types.Int96:
		return parquet.Int96SizeBytes
	case parquet.Types.FixedLenByteArray:
		return max(0, p.column.TypeLength())
	}
	return 0
}

func (p *pages) data(h pageHeader, body []byte) (err error) {
	if p.levels, body, err = p.defined(h, body); err != nil {
		return err
	}
	counting := p.levels
	there, err := counting.next(nil, h.values)
	if err != nil {
		return err
	}
	p.values, p.there, p.body, p.encoding = h.values, there, body, parquet.Encoding(h.encoding)
	p.number++
	if h.encoding == byteStreamSplit {
		p.body, err = merged(body, p.width(), there)
		p.encoding = parquet.Encodings.Plain
	}
	return err
}

// defined splits levels from values.
func (p *pages) defined(h pageHeader, body []byte) (levels, []byte, error) {
	if h.kind == dataPageV2 {
		l := body[h.repeated : h.repeated+h.defined]
		return levels{buf: l, all: p.column.MaxDefinitionLevel() == 0}, body[h.repeated+h.defined:], nil
	}
	if p.column.MaxDefinitionLevel() == 0 {
		return levels{all: true}, body, nil
	}
	if h.levels != int64(parquet.Encodings.RLE) {
		return levels{}, nil, UnsupportedError{fmt.Errorf("writes missing cells in a way that is not read (encoding %d)",
			h.levels)}
	}
	if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
		return levels{}, nil, errLevels
	}
	n := 4 + int(binary.LittleEndian.Uint32(body))
	return levels{buf: body[4:n]}, body[n:], nil
}

// levels says which cells of a page are there: the definition levels of a column
// that is not nested, runs of equal bits and packed ones by turns. They are not
// spread out before they are read, so that a header cannot ask for memory.
type levels struct {
	buf    []byte
	left   int64 // values of the current run
	packed bool
	bit    int  // of buf[0], where packed
	there  bool // all of the run, where not
	all    bool // the column has no levels: nothing is missing
}

// begin reads the header of the next run.
func (l *levels) begin() error {
	h, n := binary.Uvarint(l.buf)
	if n <= 0 || h>>1 == 0 || len(l.buf) == n || h>>1 > 1<<31 {
		return errLevels
	}
	l.buf, l.packed, l.bit = l.buf[n:], h&1 == 1, 0
	if l.packed {
		// The last group may be cut off where no value needs it.
		l.left = min(int64(h>>1), int64(len(l.buf))) * 8
		return nil
	}
	if l.buf[0] > 1 {
		return errLevels
	}
	l.left, l.there = int64(h>>1), l.buf[0] == 1
	l.buf = l.buf[1:]
	return nil
}

var errLevels = fmt.Errorf("a page says wrongly which of its cells are missing")

// next reads n levels into to, if to is not nil, and returns how many cells are there.
func (l *levels) next(cells []bool, n int64) (there int64, err error) {
	if l.all {
		for i := range cells {
			cells[i] = true
		}
		return n, nil
	}
	for done := int64(0); done < n; {
		if l.left == 0 {
			if err := l.begin(); err != nil {
				return 0, err
			}
		}
		m := min(n-done, l.left)
		if cells == nil {
			there += l.take(nil, m)
		} else {
			there += l.take(cells[done:done+m], m)
		}
		done += m
	}
	return there, nil
}

// take reads m levels of the current run.
func (l *levels) take(cells []bool, m int64) (there int64) {
	l.left -= m
	if !l.packed {
		for i := range cells {
			cells[i] = l.there
		}
		if l.there {
			return m
		}
		return 0
	}
	for i := range m {
		set := l.buf[0]>>l.bit&1 == 1
		if set {
			there++
		}
		if cells != nil {
			cells[i] = set
		}
		if l.bit++; l.bit == 8 {
			l.buf, l.bit = l.buf[1:], 0
		}
	}
	return there
}
