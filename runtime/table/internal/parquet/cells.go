package parquet

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
)

// cells collects the cells of one column.
type cells interface {
	read(p *pages, n int64) (got int64, err error) // the next n of a chunk; fewer where texts are long
	have() int64                                   // cells that are read and not finished
	finish(n int64) (arrow.Array, error)           // the first n of them
}

// newCells collects what is stored as t in a physical type, and says which type it becomes: integers
// of every width are 64-bit ones. It is nil for what no cell of a table can be. room
// is how many bytes texts may keep before no more of them are read.
func newCells(t arrow.DataType, stored physical, room int64) (cells, arrow.DataType) {
	switch t.ID() {
	case arrow.NULL:
		if stored.kind != parquet.Types.Int32 {
			return nil, t
		}
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32], array: nullArray}, t
	case arrow.DECIMAL128:
		return newDecimals(t, stored, room), t
	case arrow.TIMESTAMP:
		if stored.kind == parquet.Types.Int96 {
			return &typed[parquet.Int96]{plain: plainFixed(parquet.Int96Traits.CastFromBytes), array: julian(t)}, t
		}
		return &typed[int64]{plain: plainFixed(arrow.Int64Traits.CastFromBytes), delta: numbersOf[int64], array: fixedArray(t, arrow.Int64Traits.CastToBytes)}, t
	case arrow.BOOL:
		return &typed[bool]{plain: plainFlags, array: flagArray}, t
	case arrow.INT8, arrow.INT16, arrow.INT32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32], array: widened(func(v int32) int64 { return int64(v) })}, arrow.PrimitiveTypes.Int64
	case arrow.UINT8, arrow.UINT16, arrow.UINT32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32], array: widened(func(v int32) int64 { return int64(uint32(v)) })}, arrow.PrimitiveTypes.Int64
	case arrow.INT64, arrow.UINT64, arrow.TIME64:
		return &typed[int64]{plain: plainFixed(arrow.Int64Traits.CastFromBytes), delta: numbersOf[int64], array: fixedArray(t, arrow.Int64Traits.CastToBytes)}, t
	case arrow.FLOAT32:
		return &typed[float32]{plain: plainFixed(arrow.Float32Traits.CastFromBytes), array: fixedArray(t, arrow.Float32Traits.CastToBytes)}, t
	case arrow.FLOAT64:
		return &typed[float64]{plain: plainFixed(arrow.Float64Traits.CastFromBytes), array: fixedArray(t, arrow.Float64Traits.CastToBytes)}, t
	case arrow.DATE32, arrow.TIME32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32], array: fixedArray(t, arrow.Int32Traits.CastToBytes)}, t
	case arrow.STRING:
		return newTexts(room), t
	}
	return nil, t
}

// typed are cells of one physical type.
type typed[T any] struct {
	values  []T
	there   []bool
	missing int
	plain   func(body []byte) decoder[T]
	delta   func(e parquet.Encoding, body []byte, n int64) (decoder[T], error) // nil: has no such encoding
	array   func(values []T, valid *memory.Buffer, missing int) (arrow.Array, error)

	room int64 // see newCells; 0 of cells that keep nothing but themselves
	held int64 // bytes that cells not finished keep: pages, dictionaries, texts made

	chunk   *pages // that is being read
	number  int    // the page of it
	decoder decoder[T]
	words   []T // the dictionary of the chunk
}

// errShort is a chunk with fewer cells than the footer says.
var errShort = errors.New("a row group has fewer rows than the footer says")

func (c *typed[T]) have() int64 { return int64(len(c.values)) }

// full is never true of a column without cells, so that each call gives some.
func (c *typed[T]) full() bool { return c.room > 0 && c.held >= c.room && len(c.values) > 0 }

func (c *typed[T]) read(p *pages, n int64) (got int64, err error) {
	for got < n && !c.full() {
		err := p.advance()
		if err == io.EOF {
			return got, errShort
		}
		if err != nil {
			return got, err
		}
		if err := c.turn(p); err != nil {
			return got, err
		}
		m := c.bounded(min(n-got, p.values))
		if err := c.piece(p, int(m)); err != nil {
			return got, err
		}
		p.values -= m
		got += m
	}
	return got, nil
}

// bounded is how many of the next n cells may be read at once.
func (c *typed[T]) bounded(n int64) int64 {
	made, ok := c.decoder.(maker)
	if !ok {
		return n
	}
	n, size := made.upto(n, max(1, c.room-c.held))
	c.held += size
	return n
}

// piece reads m cells of one page.
func (c *typed[T]) piece(p *pages, m int) error {
	at := len(c.values)
	c.values, c.there = append(c.values, make([]T, m)...), append(c.there, make([]bool, m)...)
	values, there := c.values[at:], c.there[at:]
	n, err := p.levels.next(there, int64(m))
	if err != nil || n == 0 {
		c.missing += m
		return err
	}
	if err := c.decoder.next(values[:n]); err != nil {
		return err
	}
	c.missing += m - int(n)
	spread(values, there, int(n))
	return nil
}

// turn takes up the page, if it is a new one and has values.
func (c *typed[T]) turn(p *pages) error {
	if c.chunk == p && c.number == p.number {
		return nil
	}
	if c.chunk != p {
		c.words = nil
	}
	c.chunk, c.number, c.decoder = p, p.number, nil
	if p.there == 0 {
		return nil
	}
	return c.decode(p)
}

func (c *typed[T]) decode(p *pages) (err error) {
	if p.encoding == parquet.Encodings.RLEDict || p.encoding == parquet.Encodings.PlainDict {
		c.decoder, err = c.look(p)
		return err
	}
	c.held += int64(len(p.body))
	switch p.encoding {
	case parquet.Encodings.Plain:
		c.decoder = c.plain(p.body)
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray:
		if c.delta == nil {
			return notRead(p.encoding)
		}
		c.decoder, err = c.delta(p.encoding, p.body, p.there)
	case parquet.Encodings.RLE:
		f, wrong := runFlags(p.body)
		d, ok := any(f).(decoder[T])
		if !ok {
			return notRead(p.encoding)
		}
		c.decoder, err = d, wrong
	default:
		return notRead(p.encoding)
	}
	return err
}

// look reads the dictionary of a chunk once.
func (c *typed[T]) look(p *pages) (decoder[T], error) {
	if p.dictionary == nil {
		return nil, errors.New("a page needs a dictionary that is not there")
	}
	if c.words == nil {
		c.words = make([]T, p.words)
		if err := c.plain(p.dictionary).next(c.words); err != nil {
			return nil, err
		}
		c.held += int64(len(p.dictionary))
	}
	at, err := newIndexes(p.body)
	return &looked[T]{values: c.words, at: at}, err
}

// spread moves n values to the places of the cells that are there.
func spread[T any](values []T, there []bool, n int) {
	var none T
	if n == len(values) {
		return
	}
	for i := len(values) - 1; i >= 0; i-- {
		if !there[i] {
			values[i] = none
			continue
		}
		n--
		values[i] = values[n]
	}
}

func (c *typed[T]) finish(n int64) (arrow.Array, error) {
	valid, missing := c.valid(c.there[:n])
	a, err := c.array(c.values[:n:n], valid, missing)
	c.missing -= missing
	if n < c.have() {
		c.values, c.there = c.values[n:], c.there[n:]
	} else { // what Arrow was given is not written to again
		c.values, c.there, c.held = make([]T, 0, n), c.there[:0], 0
	}
	return a, err
}

// valid is nil where nothing is missing.
func (c *typed[T]) valid(there []bool) (*memory.Buffer, int) {
	if c.missing == 0 {
		return nil, 0
	}
	bits, missing := make([]byte, (len(there)+7)/8), len(there)
	for i, is := range there {
		if is {
			bits[i/8] |= 1 << (i % 8)
			missing--
		}
	}
	return memory.NewBufferBytes(bits), missing
}
