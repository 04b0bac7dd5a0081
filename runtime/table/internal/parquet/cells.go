package parquet

import (
	"errors"
	"io"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
)

// cells collects the cells of one column of a batch.
type cells interface {
	read(p *pages, n int64) error // the next n of a chunk
	finish() (arrow.Array, error) // and starts the next batch
}

// newCells collects what is stored as t, and says which type it becomes: integers
// of every width are 64-bit ones. It is nil for what no cell of a table can be.
func newCells(t arrow.DataType) (cells, arrow.DataType) {
	switch t.ID() {
	case arrow.BOOL:
		return &typed[bool]{plain: plainFlags, array: flagArray}, t
	case arrow.INT8, arrow.INT16, arrow.INT32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32], array: widened(func(v int32) int64 { return int64(v) })}, arrow.PrimitiveTypes.Int64
	case arrow.UINT8, arrow.UINT16, arrow.UINT32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32], array: widened(func(v int32) int64 { return int64(uint32(v)) })}, arrow.PrimitiveTypes.Int64
	case arrow.INT64, arrow.UINT64:
		return &typed[int64]{plain: plainFixed(arrow.Int64Traits.CastFromBytes), delta: numbersOf[int64], array: fixedArray(t, arrow.Int64Traits.CastToBytes)}, t
	case arrow.FLOAT32:
		return &typed[float32]{plain: plainFixed(arrow.Float32Traits.CastFromBytes), array: fixedArray(t, arrow.Float32Traits.CastToBytes)}, t
	case arrow.FLOAT64:
		return &typed[float64]{plain: plainFixed(arrow.Float64Traits.CastFromBytes), array: fixedArray(t, arrow.Float64Traits.CastToBytes)}, t
	case arrow.DATE32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32], array: fixedArray(t, arrow.Int32Traits.CastToBytes)}, t
	case arrow.STRING:
		return &typed[parquet.ByteArray]{plain: func(b []byte) decoder[parquet.ByteArray] { return &lengthed{b} }, delta: textsOf, array: textArray}, t
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

	chunk   *pages // that is being read
	number  int    // the page of it
	decoder decoder[T]
	words   []T // the dictionary of the chunk
}

// errShort is a chunk with fewer cells than the footer says.
var errShort = errors.New("a row group has fewer rows than the footer says")

func (c *typed[T]) read(p *pages, n int64) error {
	for n > 0 {
		err := p.advance()
		if err == io.EOF {
			return errShort
		}
		if err != nil {
			return err
		}
		m := min(n, p.values)
		if err := c.piece(p, int(m)); err != nil {
			return err
		}
		p.values -= m
		n -= m
	}
	return nil
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
	if c.chunk != p || c.number != p.number {
		if err := c.turn(p); err != nil {
			return err
		}
	}
	if err := c.decoder.next(values[:n]); err != nil {
		return err
	}
	c.missing += m - int(n)
	spread(values, there, int(n))
	return nil
}

// turn takes up a new page.
func (c *typed[T]) turn(p *pages) (err error) {
	if c.chunk != p {
		c.words = nil
	}
	c.chunk, c.number = p, p.number
	switch p.encoding {
	case parquet.Encodings.Plain:
		c.decoder = c.plain(p.body)
	case parquet.Encodings.RLEDict, parquet.Encodings.PlainDict:
		c.decoder, err = c.look(p)
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

func (c *typed[T]) finish() (arrow.Array, error) {
	var valid *memory.Buffer
	if c.missing > 0 {
		bits := make([]byte, (len(c.there)+7)/8)
		for i, is := range c.there {
			if is {
				bits[i/8] |= 1 << (i % 8)
			}
		}
		valid = memory.NewBufferBytes(bits)
	}
	a, err := c.array(c.values, valid, c.missing)
	c.values, c.there, c.missing = make([]T, 0, len(c.values)), c.there[:0], 0
	return a, err
}

func arrayOf(t arrow.DataType, rows, missing int, buffers ...*memory.Buffer) arrow.Array {
	data := array.NewData(t, rows, buffers, nil, missing, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func fixedArray[T any](t arrow.DataType, bytes func([]T) []byte) func([]T, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []T, valid *memory.Buffer, missing int) (arrow.Array, error) {
		return arrayOf(t, len(values), missing, valid, memory.NewBufferBytes(bytes(values))), nil
	}
}

func widened(wide func(int32) int64) func([]int32, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []int32, valid *memory.Buffer, missing int) (arrow.Array, error) {
		out := make([]int64, len(values))
		for i, v := range values {
			out[i] = wide(v)
		}
		return fixedArray(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes)(out, valid, missing)
	}
}

func flagArray(values []bool, valid *memory.Buffer, missing int) (arrow.Array, error) {
	bits := make([]byte, (len(values)+7)/8)
	for i, is := range values {
		if is {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return arrayOf(arrow.FixedWidthTypes.Boolean, len(values), missing, valid, memory.NewBufferBytes(bits)), nil
}

var errTexts = UnsupportedError{errors.New("has texts that are longer than 2 GiB in 65,536 rows, which is not read")}

func textArray(values []parquet.ByteArray, valid *memory.Buffer, missing int) (arrow.Array, error) {
	size := 0
	for _, v := range values {
		if size += len(v); size > math.MaxInt32 {
			return nil, errTexts
		}
	}
	offsets, text := make([]int32, 1, len(values)+1), make([]byte, 0, size)
	for _, v := range values {
		text = append(text, v...)
		offsets = append(offsets, int32(len(text)))
	}
	if !utf8.Valid(text) {
		return nil, errors.New("a text is not UTF-8")
	}
	return arrayOf(arrow.BinaryTypes.String, len(values), missing, valid,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(text)), nil
}
