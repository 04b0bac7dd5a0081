package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
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
		return &typed[int64]{plain: plainFixed(arrow.Int64Traits.CastFromBytes), delta: numbersOf[int64],
			array: fixedArray(t, arrow.Int64Traits.CastToBytes)}, t
	case arrow.BOOL:
		return &typed[bool]{plain: plainFlags, array: flagArray}, t
	case arrow.INT8, arrow.INT16, arrow.INT32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32],
			array: widened(func(v int32) int64 { return int64(v) })}, arrow.PrimitiveTypes.Int64
	case arrow.UINT8, arrow.UINT16, arrow.UINT32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32],
			array: widened(func(v int32) int64 { return int64(uint32(v)) })}, arrow.PrimitiveTypes.Int64
	case arrow.INT64, arrow.UINT64, arrow.TIME64:
		return &typed[int64]{plain: plainFixed(arrow.Int64Traits.CastFromBytes), delta: numbersOf[int64],
			array: fixedArray(t, arrow.Int64Traits.CastToBytes)}, t
	case arrow.FLOAT32:
		return &typed[float32]{plain: plainFixed(arrow.Float32Traits.CastFromBytes),
			array: fixedArray(t, arrow.Float32Traits.CastToBytes)}, t
	case arrow.FLOAT64:
		return &typed[float64]{plain: plainFixed(arrow.Float64Traits.CastFromBytes),
			array: fixedArray(t, arrow.Float64Traits.CastToBytes)}, t
	case arrow.DATE32, arrow.TIME32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32],
			array: fixedArray(t, arrow.Int32Traits.CastToBytes)}, t
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

// full reports whether the room for cells is used up. It is false while there is no cell, so that each call
// returns some.
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

// bounded returns how many of the next n cells may be read at once.
func (c *typed[T]) bounded(n int64) int64 {
	m, ok := c.decoder.(maker)
	if !ok {
		return n
	}
	n, size := m.within(n, max(1, c.room-c.held))
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

// valid returns the validity bits of cells and how many are missing; nil where the column has missed none.
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

// texts are cells that are parts of a page or of a dictionary until they are finished:
// a few bytes can name one long word a million times.
type texts struct{ typed[parquet.ByteArray] }

func newTexts(room int64) *texts {
	return &texts{typed[parquet.ByteArray]{
		plain: func(b []byte) decoder[parquet.ByteArray] { return &lengthed{b} },
		delta: textsOf, array: textArray, room: room}}
}

// size returns the size of the text of a cell that is not finished.
func (t *texts) size(i int64) int64 { return int64(len(t.values[i])) }

// textArray copies texts, and lets go of what they are parts of. Together they are
// valid where each is, but not the other way round: two can hold half a character each.
func textArray(values []parquet.ByteArray, valid *memory.Buffer, missing int) (arrow.Array, error) {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	offsets, text, whole := make([]int32, 1, len(values)+1), make([]byte, 0, size), true
	for _, v := range values {
		whole = whole && (len(v) == 0 || utf8.RuneStart(v[0]))
		text = append(text, v...)
		offsets = append(offsets, int32(len(text)))
	}
	clear(values)
	if !whole || !utf8.Valid(text) {
		return nil, errors.New("a text is not UTF-8")
	}
	return arrayOf(arrow.BinaryTypes.String, len(offsets)-1, missing, valid,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(text)), nil
}

// physical is how the values of a column are stored: a physical type of the format, and how many bytes each has where
// it is FIXED_LEN_BYTE_ARRAY.
type physical struct {
	kind  parquet.Type
	width int
}

func physicalOf(c *schema.Column) physical { return physical{c.PhysicalType(), c.TypeLength()} }

// newDecimals collects decimals: whole numbers in units of the last digit, in words of 32 or 64 bits, or in two's
// complement with the most significant byte first (parquet-format, LogicalTypes.md, DECIMAL).
func newDecimals(t arrow.DataType, stored physical, room int64) cells {
	switch stored.kind {
	case parquet.Types.Int32:
		return &typed[int32]{plain: plainFixed(arrow.Int32Traits.CastFromBytes), delta: numbersOf[int32],
			array: decimalArray(t, func(v int32) (decimal128.Num, error) { return decimal128.FromI64(int64(v)), nil })}
	case parquet.Types.Int64:
		return &typed[int64]{plain: plainFixed(arrow.Int64Traits.CastFromBytes), delta: numbersOf[int64],
			array: decimalArray(t, func(v int64) (decimal128.Num, error) { return decimal128.FromI64(v), nil })}
	case parquet.Types.FixedLenByteArray:
		return &typed[parquet.ByteArray]{plain: cutAt(stored.width), delta: textsOf, array: decimalArray(t, wide), room: room}
	}
	return &typed[parquet.ByteArray]{plain: func(b []byte) decoder[parquet.ByteArray] { return &lengthed{b} },
		delta: textsOf,
		array: decimalArray(t, wide), room: room}
}

// cut are plain values that all have as many bytes.
type cut struct {
	rest  []byte
	width int
}

func cutAt(width int) func([]byte) decoder[parquet.ByteArray] {
	return func(body []byte) decoder[parquet.ByteArray] { return &cut{body, width} }
}

func (c *cut) next(values []parquet.ByteArray) error {
	for i := range values {
		if len(c.rest) < c.width {
			return errFew
		}
		values[i], c.rest = c.rest[:c.width], c.rest[c.width:]
	}
	return nil
}

// wide reads a two's complement of at most 16 bytes; a missing value has none.
func wide(b parquet.ByteArray) (decimal128.Num, error) {
	if len(b) > 16 {
		return decimal128.Num{}, errors.New("a decimal has more than 16 bytes")
	}
	var whole [16]byte
	if len(b) > 0 && b[0] >= 0x80 {
		for i := range whole {
			whole[i] = 0xff
		}
	}
	copy(whole[16-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(whole[:8])), binary.BigEndian.Uint64(whole[8:])), nil
}

func decimalArray[T any](t arrow.DataType,
	number func(T) (decimal128.Num, error)) func([]T, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []T, valid *memory.Buffer, missing int) (arrow.Array, error) {
		out := make([]decimal128.Num, len(values))
		for i, v := range values {
			var err error
			if out[i], err = number(v); err != nil {
				return nil, err
			}
		}
		return fixedArray(t, arrow.Decimal128Traits.CastToBytes)(out, valid, missing)
	}
}

// julianEpoch is the Julian day number of 1970-01-01.
const julianEpoch = 2440588

// julian makes seconds of the timestamps that Spark and Impala store in 96 bits: nanoseconds of a day, then the day.
func julian(t arrow.DataType) func([]parquet.Int96, *memory.Buffer, int) (arrow.Array, error) {
	return func(values []parquet.Int96, valid *memory.Buffer, missing int) (arrow.Array, error) {
		out := make([]int64, len(values))
		for i, v := range values {
			nanos, day := int64(binary.LittleEndian.Uint64(v[:8])), int64(binary.LittleEndian.Uint32(v[8:]))
			seconds := nanos / 1e9
			if nanos%1e9 < 0 {
				seconds--
			}
			out[i] = (day-julianEpoch)*24*60*60 + seconds
		}
		return fixedArray(t, arrow.Int64Traits.CastToBytes)(out, valid, missing)
	}
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

// nullArray returns a column that no row has a value in, whatever its pages hold.
func nullArray(values []int32, _ *memory.Buffer, _ int) (arrow.Array, error) {
	return array.NewNull(len(values)), nil
}
