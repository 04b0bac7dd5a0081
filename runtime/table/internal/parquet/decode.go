package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
)

// decoder gives the values of a page, one after the other: as many as values holds,
// or an error.
type decoder[T any] interface {
	next(to []T) error
}

// maker is a decoder that makes values where others give parts of the page: of the next
// n, within says how many take no more than room bytes, but for the first, and how many
// bytes those take.
type maker interface {
	within(n, room int64) (values, bytes int64)
}

// fixed decodes plain values of one fixed width.
type fixed[T any] struct{ rest []T }

func (f *fixed[T]) next(values []T) error {
	if len(f.rest) < len(values) {
		return errFew
	}
	f.rest = f.rest[copy(values, f.rest):]
	return nil
}

func plainFixed[T any](cast func([]byte) []T) func([]byte) decoder[T] {
	return func(body []byte) decoder[T] { return &fixed[T]{cast(body)} }
}

// lengthed are plain texts, each behind its length.
type lengthed struct{ rest []byte }

func (l *lengthed) next(values []parquet.ByteArray) error {
	for i := range values {
		if len(l.rest) < 4 {
			return errFew
		}
		n := uint64(binary.LittleEndian.Uint32(l.rest))
		if n > uint64(len(l.rest)-4) {
			return errFew
		}
		values[i], l.rest = l.rest[4:4+n], l.rest[4+n:]
	}
	return nil
}

// flags are booleans: packed, or in runs as levels are.
type flags struct{ levels }

func (f *flags) next(to []bool) error {
	_, err := f.levels.next(to, int64(len(to)))
	return err
}

func plainFlags(body []byte) decoder[bool] {
	return &flags{levels{buf: body, left: int64(len(body)) * 8, packed: true}}
}

func runFlags(body []byte) (*flags, error) {
	if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
		return nil, errFew
	}
	return &flags{levels{buf: body[4 : 4+binary.LittleEndian.Uint32(body)]}}, nil
}

// looked are values of a dictionary.
type looked[T any] struct {
	values []T
	at     *indexes
	buf    []uint32
}

func (d *looked[T]) next(values []T) error {
	if cap(d.buf) < len(values) {
		d.buf = make([]uint32, len(values))
	}
	places := d.buf[:len(values)]
	if err := d.at.next(places); err != nil {
		return err
	}
	for i, n := range places {
		if n >= uint32(len(d.values)) {
			return errors.New("a page names a value that its dictionary lacks")
		}
		values[i] = d.values[n]
	}
	return nil
}

// notRead names an encoding that is not read, or that a column of that type cannot have.
func notRead(e parquet.Encoding) error {
	return UnsupportedError{fmt.Errorf("has pages that are encoded in a way that is not read (encoding %d)", int(e))}
}

var errFew = errors.New("a page has fewer values than it says")

// indexes reads the numbers of dictionary values of a page: runs of one number
// and packed ones by turns, each of width bits.
type indexes struct {
	buf    []byte
	width  int
	left   int64 // of the current run
	packed bool
	bit    int64 // in buf, where packed
	value  uint32
}

// newIndexes reads the width, with which the body of a page begins.
func newIndexes(body []byte) (*indexes, error) {
	if len(body) == 0 || body[0] > 32 {
		return nil, errFew
	}
	return &indexes{buf: body[1:], width: int(body[0])}, nil
}

func (x *indexes) begin() error {
	if x.packed { // step over the bytes of the run that ends here
		x.buf = x.buf[(x.bit+7)/8:]
	}
	h, n := binary.Uvarint(x.buf)
	if n <= 0 || h>>1 == 0 || h>>1 > 1<<31 {
		return errFew
	}
	x.buf, x.packed, x.bit = x.buf[n:], h&1 == 1, 0
	if x.packed {
		x.left = int64(h>>1) * 8
		if x.width > 0 {
			x.left = min(x.left, int64(len(x.buf))*8/int64(x.width))
		}
	} else {
		x.left = int64(h >> 1)
		var b [4]byte
		size := (x.width + 7) / 8
		if copy(b[:size], x.buf) < size {
			return errFew
		}
		x.value, x.buf = binary.LittleEndian.Uint32(b[:]), x.buf[size:]
	}
	if x.left == 0 {
		return errFew
	}
	return nil
}

// next reads as many numbers as the slice holds.
func (x *indexes) next(numbers []uint32) error {
	for len(numbers) > 0 {
		if x.left == 0 {
			if err := x.begin(); err != nil {
				return err
			}
		}
		n := min(int64(len(numbers)), x.left)
		for i := range numbers[:n] {
			if x.packed {
				numbers[i] = x.unpack()
			} else {
				numbers[i] = x.value
			}
		}
		numbers, x.left = numbers[n:], x.left-n
	}
	return nil
}

func (x *indexes) unpack() uint32 {
	first, shift := x.bit/8, x.bit%8
	x.bit += int64(x.width)
	var word uint64
	if rest := x.buf[first:]; len(rest) >= 8 {
		word = binary.LittleEndian.Uint64(rest)
	} else {
		var b [8]byte
		copy(b[:], rest)
		word = binary.LittleEndian.Uint64(b[:])
	}
	return uint32(word >> shift & (1<<x.width - 1))
}

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
	if t.bad || block == 0 || block > 1<<20 || pieces == 0 || pieces > 1<<10 || block%(8*pieces) != 0 ||
		total != uint64(n) {
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

// remainder returns what follows the numbers.
func (d deltas) remainder() ([]byte, error) {
	for d.left--; d.left > 0; d.left -= d.piece {
		if err := d.turn(); err != nil {
			return nil, err
		}
	}
	return d.buf, nil
}

// bitsAt reads width bits, the least first.
func bitsAt(b []byte, bit int64, width int) uint64 {
	first, shift := bit/8, int(bit%8)
	if len(b)-int(first) >= 8 && width <= 56 {
		return binary.LittleEndian.Uint64(b[first:]) >> shift & (1<<width - 1)
	}
	var v uint64
	for got := 0; got < width; first++ {
		v |= uint64(b[first]>>shift) << got
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

func (d *deltaNumbers[T]) next(values []T) error {
	for i := range values {
		v, err := d.deltas.next()
		if err != nil {
			return err
		}
		values[i] = T(v)
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

// What the texts of a page may share with those before them is bounded: each of n
// bytes more can repeat all n before it. The first 4 KiB of a text count for nothing,
// so that the texts of people are read however alike they are.
const (
	freelyShared = 4 << 10
	sharedFloor  = 64 << 20
	sharedFactor = 256
)

var errShared = UnsupportedError{errors.New("has long texts that repeat each other beyond what is read " +
	"(DELTA_BYTE_ARRAY: 64 MiB and 256 times the page, not counting the first 4 KiB of each text); " +
	"write them in another encoding")}

// deltaTexts are texts of which the lengths come first.
type deltaTexts struct {
	lengths deltas
	text    []byte
}

// sharingTexts say before their lengths how much of the text before each begins with.
type sharingTexts struct {
	deltaTexts
	prefixes deltas
	last     []byte
	made     int64 // bytes of the next values, as within found
	left     int64 // of what may be shared
}

func textsOf(e parquet.Encoding, body []byte, n int64) (decoder[parquet.ByteArray], error) {
	switch e {
	case parquet.Encodings.DeltaLengthByteArray:
		d := &deltaTexts{}
		return d, d.begin(body, n)
	case parquet.Encodings.DeltaByteArray:
		return sharing(body, n)
	}
	return nil, notRead(e)
}

func sharing(body []byte, n int64) (_ *sharingTexts, err error) {
	d := &sharingTexts{left: sharedFloor + sharedFactor*int64(len(body))}
	if d.prefixes, err = newDeltas(body, n); err != nil {
		return nil, err
	}
	if body, err = d.prefixes.remainder(); err != nil {
		return nil, err
	}
	return d, d.begin(body, n)
}

func (d *deltaTexts) begin(body []byte, n int64) (err error) {
	if d.lengths, err = newDeltas(body, n); err != nil {
		return err
	}
	d.text, err = d.lengths.remainder()
	return err
}

func (d *deltaTexts) next(values []parquet.ByteArray) error {
	for i := range values {
		n, err := d.lengths.next()
		if err != nil || n < 0 || n > int64(len(d.text)) {
			return errFew
		}
		values[i], d.text = d.text[:n:n], d.text[n:]
	}
	return nil
}

// within implements maker. It looks ahead in copies; what cannot be true is left to next.
func (d *sharingTexts) within(n, room int64) (values, bytes int64) {
	prefixes, lengths, last, rest := d.prefixes, d.lengths, int64(len(d.last)), int64(len(d.text))
	for d.made = 0; values < n; values++ {
		prefix, err := prefixes.next()
		length, wrong := lengths.next()
		if err != nil || wrong != nil || prefix < 0 || prefix > last || length < 0 || length > rest {
			return n, d.made // the page ends here
		}
		last, rest = prefix+length, rest-length
		if d.made+last > room && values > 0 {
			break
		}
		d.made += last
	}
	return values, d.made
}

func (d *sharingTexts) next(values []parquet.ByteArray) error {
	text := make([]byte, 0, d.made)
	for i := range values {
		prefix, err := d.prefixes.next()
		if err != nil || prefix < 0 || prefix > int64(len(d.last)) {
			return errFew
		}
		if d.left -= max(0, prefix-freelyShared); d.left < 0 {
			return errShared
		}
		if err := d.deltaTexts.next(values[i : i+1]); err != nil {
			return err
		}
		at := len(text)
		text = append(append(text, d.last[:prefix]...), values[i]...)
		values[i] = text[at:len(text):len(text)]
		d.last = values[i]
	}
	return nil
}

// byteStreamSplit is the encoding BYTE_STREAM_SPLIT by its number in the format.
const byteStreamSplit = 9

// merged makes a plain page of one whose values were split: all first bytes, then
// all second ones.
func merged(body []byte, width int, n int64) ([]byte, error) {
	if width == 0 || int64(len(body)) != n*int64(width) {
		return nil, errFew
	}
	out := make([]byte, len(body))
	for k := range width {
		from := body[int64(k)*n : int64(k+1)*n]
		for i, b := range from {
			out[i*width+k] = b
		}
	}
	return out, nil
}
