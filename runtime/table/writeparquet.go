package table

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// rowGroup is the number of rows after which a row group is closed; a writer
// holds one of them in memory.
const rowGroup = 1 << 20

// pieceRows are written at a time. Arrow 15 cuts a column into batches of
// WithBatchSize values and, in a nullable dictionary column, computes the end of
// every batch after the first wrongly (columnWriter.maybeReplaceValidity takes
// the length for the end). One batch a piece, at offset 0, avoids that.
const pieceRows = 1 << 16

// Endings implements Writer.
func (parquetFormat) Endings() []string { return []string{".parquet"} }

// Usual implements Writer.
func (parquetFormat) Usual() bool { return true }

// Text implements Writer.
func (parquetFormat) Text() bool { return false }

// Write implements Writer: numeric as double, integer as int64, date as date32, text as utf8, categories as a
// dictionary of their spellings, booleans of 0 and 1 as boolean, encoded columns as float. Nothing in the file depends
// on when or where it is written.
func (parquetFormat) Write(ctx context.Context, w io.Writer, _ string, t pipeline.Table, _ Style) error {
	p, err := newParquetWriter(w, t.Domain)
	if err != nil {
		return err
	}
	for r, err := range t.Open(ctx) {
		if err == nil {
			err = p.record(r)
		}
		if err != nil {
			p.out.Close() // to free memory: the caller throws the file away
			return err
		}
	}
	return p.close()
}

type parquetWriter struct {
	sink    *sink
	out     *pqarrow.FileWriter
	domain  *domain.Domain
	schema  *arrow.Schema
	columns []func(arrow.Array) (arrow.Array, error)
	rows    int64
}

func newParquetWriter(w io.Writer, d *domain.Domain) (*parquetWriter, error) {
	p := &parquetWriter{sink: &sink{w: w}, domain: d, columns: make([]func(arrow.Array) (arrow.Array, error), len(d.Columns))}
	fields := make([]arrow.Field, len(d.Columns))
	options := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy), parquet.WithVersion(parquet.V2_4),
		parquet.WithCreatedBy("weir"), parquet.WithBatchSize(pieceRows)}
	for i := range d.Columns {
		c := &d.Columns[i]
		options = append(options, parquet.WithDictionaryFor(c.Name, fewValues(c)))
		var kind arrow.DataType
		kind, p.columns[i] = stored(c)
		fields[i] = arrow.Field{Name: c.Name, Type: kind, Nullable: true}
	}
	p.schema = arrow.NewSchema(fields, nil)
	// The statistics of categories take what Growing has in hand for a buffer's length.
	var err error
	p.out, err = pqarrow.NewFileWriter(p.schema, p.sink, parquet.NewWriterProperties(options...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema(), pqarrow.WithAllocator(memory.NewGoAllocator())))
	return p, err
}

// stored is the type of a column in a Parquet file, and how to get there.
func stored(c *domain.Column) (arrow.DataType, func(arrow.Array) (arrow.Array, error)) {
	switch {
	case c.ArrowType().ID() == arrow.INT32 && isFlag(c):
		return arrow.FixedWidthTypes.Boolean, func(a arrow.Array) (arrow.Array, error) { return toFlags(c, a) }
	case c.ArrowType().ID() == arrow.INT32:
		kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		words := array.NewStringBuilder(memory.DefaultAllocator)
		words.AppendValues(categories(c), nil)
		dictionary := words.NewArray()
		return kind, func(a arrow.Array) (arrow.Array, error) { return toDictionary(c, kind, dictionary, a) }
	case c.Type == domain.Date && c.Encoding == nil:
		return arrow.FixedWidthTypes.Date32, func(a arrow.Array) (arrow.Array, error) { return toDates(c, a) }
	}
	return c.ArrowType(), func(a arrow.Array) (arrow.Array, error) { return a, nil }
}

// isFlag reports a boolean whose words are 0 and 1 in this order.
func isFlag(c *domain.Column) bool {
	l := categories(c)
	return c.Type == domain.Boolean && c.Encoding == nil && len(l) == 2 && l[0] == "0" && l[1] == "1"
}

func toFlags(c *domain.Column, a arrow.Array) (arrow.Array, error) {
	codes, ok := a.(*array.Int32)
	if !ok {
		return nil, otherType(c, a)
	}
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	b.Reserve(a.Len())
	for i, v := range codes.Int32Values() {
		if codes.IsNull(i) {
			b.UnsafeAppendBoolToBitmap(false)
			continue
		}
		if v != 0 && v != 1 {
			return nil, noCategory(c)
		}
		b.UnsafeAppend(v == 1)
	}
	return b.NewArray(), nil
}

func toDictionary(c *domain.Column, kind arrow.DataType, words arrow.Array, a arrow.Array) (arrow.Array, error) {
	codes, ok := a.(*array.Int32)
	if !ok {
		return nil, otherType(c, a)
	}
	for i, v := range codes.Int32Values() {
		if (v < 0 || int(v) >= words.Len()) && codes.IsValid(i) && !codesMissing(c, codes, i) {
			return nil, noCategory(c)
		}
	}
	return array.NewDictionaryArray(kind, fromStart(withoutMissing(c, codes)), words), nil
}

// withoutMissing is null where an encoded column has its code for missing values.
func withoutMissing(c *domain.Column, codes *array.Int32) *array.Int32 {
	if c.Encoding == nil {
		return codes
	}
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.Reserve(codes.Len())
	for i, v := range codes.Int32Values() {
		if codes.IsNull(i) || codesMissing(c, codes, i) {
			b.AppendNull()
			continue
		}
		b.Append(v)
	}
	return b.NewInt32Array()
}

// fromStart copies a slice of an array, so that its offset is 0 (see pieceRows).
func fromStart(a *array.Int32) arrow.Array {
	if a.Data().Offset() == 0 {
		return a
	}
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.Reserve(a.Len())
	for i, v := range a.Int32Values() {
		if a.IsNull(i) {
			b.UnsafeAppendBoolToBitmap(false)
		} else {
			b.UnsafeAppend(v)
		}
	}
	return b.NewArray()
}

func toDates(c *domain.Column, a arrow.Array) (arrow.Array, error) {
	days, ok := a.(*array.Int64)
	if !ok {
		return nil, otherType(c, a)
	}
	b := array.NewDate32Builder(memory.DefaultAllocator)
	b.Reserve(a.Len())
	for i, v := range days.Int64Values() {
		switch {
		case days.IsNull(i):
			b.AppendNull()
		case v < math.MinInt32 || v > math.MaxInt32:
			return nil, fmt.Errorf("column %q: holds a date outside the range of date32", c.Name)
		default:
			b.UnsafeAppend(arrow.Date32(v))
		}
	}
	return b.NewArray(), nil
}

func otherType(c *domain.Column, a arrow.Array) error {
	return fmt.Errorf("column %q: is %s in memory, which no column of type %s is", c.Name, a.DataType(), c.Type)
}

func noCategory(c *domain.Column) error {
	return fmt.Errorf("column %q: holds a code without a category", c.Name)
}

func (p *parquetWriter) record(r arrow.Record) error {
	for from := int64(0); from < r.NumRows(); from += pieceRows {
		piece := r.NewSlice(from, min(from+pieceRows, r.NumRows()))
		err := p.piece(piece)
		piece.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetWriter) piece(r arrow.Record) error {
	if p.rows == 0 {
		p.out.NewBufferedRowGroup()
	}
	arrays := make([]arrow.Array, len(p.columns))
	for i, convert := range p.columns {
		a, err := convert(r.Column(i))
		if err != nil {
			return err
		}
		arrays[i] = a
	}
	if err := p.out.WriteBuffered(array.NewRecord(p.schema, arrays, r.NumRows())); err != nil {
		return err
	}
	if p.rows += r.NumRows(); p.rows >= rowGroup {
		p.rows = 0
	}
	return p.sink.err
}

// close writes the footer.
func (p *parquetWriter) close() error {
	err := p.out.Close()
	if p.sink.err != nil {
		return p.sink.err
	}
	return err
}

// sink remembers the first error of a writer and then swallows what is written:
// the library drops some errors of the writer below it and panics at others.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
	return len(b), nil
}
