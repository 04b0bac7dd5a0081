package parquet

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v15/parquet"
)

// deltas reads the numbers of DELTA_BINARY_PACKED: a first one, then differences
// in blocks, each of a least one and pieces of equal width. They are read one by
// one, so that a header cannot ask for memory.
type deltas struct {
	buf     []byte
	piece   int64 // numbers in a piece
	pieces  int   // in a block
	left    int64
	begun   bool
	value   int64
	least   int64
	widths  []byte // of the pieces still to come
	width   int
	bits    []byte // of the current piece
	bit     int64
	inPiece int64
}

// newDeltas reads the header, which must speak of n numbers.
func newDeltas(b []byte, n int64) (deltas, error) {
	t := &thrift{buf: b}
	block, pieces, total, first := t.uvarint(), t.uvarint(), t.uvarint(), t.int()
	if t.bad || block == 0 || block > 1<<20 || pieces == 0 || pieces > 1<<10 || block%(8*pieces) != 0 || total != uint64(n) {
		return deltas{}, errFew
	}
	return deltas{buf: b[t.pos:], piece: int64(block / pieces), pieces: int(pieces), left: n, value: first}, nil
}

func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, errFew
	}
	d.left--
	if !d.begun {
		d.begun = true
		return d.value, nil
	}
	if d.inPiece == 0 {
		if err := d.turn(); err != nil {
			return 0, err
		}
	}
	d.inPiece--
	d.value += d.least + int64(bitsAt(d.bits, d.bit, d.width))
	d.bit += int64(d.width)
	return d.value, nil
}

// turn takes up the next piece, and the next block before it.
func (d *deltas) turn() error {
	if len(d.widths) == 0 {
		t := &thrift{buf: d.buf}
		d.least = t.int()
		if t.bad || len(d.buf)-t.pos < d.pieces {
			return errFew
		}
		d.widths, d.buf = d.buf[t.pos:t.pos+d.pieces], d.buf[t.pos+d.pieces:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	size := d.piece / 8 * int64(d.width)
	if d.width > 64 || size > int64(len(d.buf)) {
		return errFew
	}
	d.bits, d.buf, d.bit, d.inPiece = d.buf[:size], d.buf[size:], 0, d.piece
	return nil
}

// behind is what follows the numbers.
func (d deltas) behind() ([]byte, error) {
	for d.left--; d.left > 0; d.left -= d.piece {
		if err := d.turn(); err != nil {
			return nil, err
		}
	}
	return d.buf, nil
}

// bitsAt reads width bits, the least first.
func bitsAt(b []byte, bit int64, width int) uint64 {
	at, shift := bit/8, int(bit%8)
	if len(b)-int(at) >= 8 && width <= 56 {
		return binary.LittleEndian.Uint64(b[at:]) >> shift & (1<<width - 1)
	}
	var v uint64
	for got := 0; got < width; at++ {
		v |= uint64(b[at]>>shift) << got
		got += 8 - shift
		shift = 0
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// deltaNumbers are a page of them.
type deltaNumbers[T int32 | int64] struct{ deltas }

func (d *deltaNumbers[T]) next(to []T) error {
	for i := range to {
		v, err := d.deltas.next()
		if err != nil {
			return err
		}
		to[i] = T(v)
	}
	return nil
}

func numbersOf[T int32 | int64](e parquet.Encoding, body []byte, n int64) (decoder[T], error) {
	if e != parquet.Encodings.DeltaBinaryPacked {
		return nil, notRead(e)
	}
	d, err := newDeltas(body, n)
	return &deltaNumbers[T]{d}, err
}
