package table

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"

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

// MediaType implements Writer.
func (parquetFormat) MediaType() string { return "application/x-parquet" }

// Text implements Writer.
func (parquetFormat) Text() bool { return false }

// Write implements Writer: numeric as double, integer as int64, date as date32, datetime as timestamp and time as
// time64 (of microseconds), text as utf8, categories as a
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
			p.close() // to free memory: the caller throws the file away
			return err
		}
	}
	return p.close()
}

// parquetWriter writes the row groups of one file.
type parquetWriter struct {
	sink    *sink
	out     *file.Writer
	group   file.BufferedRowGroupWriter // nil before the first row
	columns []parquetColumn
	levels  []int16 // of the column that is written: 1 for a value, 0 for a missing one
	rows    int64   // of the group
}

// parquetColumn says how a column of a domain is stored.
type parquetColumn struct {
	*domain.Column
	kind    arrow.DataType // which readers of Arrow give it
	logical schema.LogicalType
	stored  parquet.Type
	write   cellWriter
}

func newParquetWriter(w io.Writer, d *domain.Domain) (*parquetWriter, error) {
	p := &parquetWriter{sink: &sink{w: w}, columns: make([]parquetColumn, len(d.Columns)),
		levels: make([]int16, pieceRows)}
	fields, nodes := make([]arrow.Field, len(d.Columns)), make(schema.FieldList, len(d.Columns))
	options := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy), parquet.WithVersion(parquet.V2_4),
		parquet.WithCreatedBy("weir"), parquet.WithBatchSize(pieceRows)}
	for i := range d.Columns {
		c := storedColumn(&d.Columns[i])
		node, err := schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Optional, c.logical, c.stored, -1, -1)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		p.columns[i], nodes[i] = c, node
		fields[i] = arrow.Field{Name: c.Name, Type: c.kind, Nullable: true}
		options = append(options, parquet.WithDictionaryFor(c.Name, fewValues(c.Column)))
	}
	props := parquet.NewWriterProperties(options...)
	root, err := schema.NewGroupNode(props.RootName(), props.RootRepetition(), nodes, -1)
	if err != nil {
		return nil, err
	}
	stated, err := statedSchema(arrow.NewSchema(fields, nil))
	if err != nil {
		return nil, err
	}
	p.out = file.NewParquetWriter(p.sink, root, file.WithWriterProps(props), file.WithWriteMetadata(stated))
	return p, nil
}

// statedSchema returns the entry of a footer by which readers of Arrow know what Parquet has no type for: dictionaries.
func statedSchema(s *arrow.Schema) (metadata.KeyValueMetadata, error) {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return nil, err
	}
	stated := metadata.NewKeyValueMetadata()
	err := stated.Append("ARROW:schema", base64.StdEncoding.EncodeToString(b.Bytes()))
	return stated, err
}

// storedColumn chooses how a column is stored.
func storedColumn(c *domain.Column) parquetColumn {
	switch kind := c.ArrowType(); {
	case kind.ID() == arrow.INT32 && isFlag(c):
		return parquetColumn{c, arrow.FixedWidthTypes.Boolean, schema.NoLogicalType{}, parquet.Types.Boolean, writeFlags}
	case kind.ID() == arrow.INT32:
		words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		return parquetColumn{c, words, schema.StringLogicalType{}, parquet.Types.ByteArray, wordWriter(c)}
	case c.Type == domain.Date && c.Encoding == nil:
		return parquetColumn{c, arrow.FixedWidthTypes.Date32, schema.DateLogicalType{}, parquet.Types.Int32, writeDates}
	case c.Type == domain.Datetime && c.Encoding == nil:
		stamp := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: c.Zone}
		return parquetColumn{c, stamp, schema.NewTimestampLogicalType(c.Zone != "", schema.TimeUnitMicros),
			parquet.Types.Int64, writeMoments}
	case c.Type == domain.Time && c.Encoding == nil:
		return parquetColumn{c, arrow.FixedWidthTypes.Time64us, schema.NewTimeLogicalType(false, schema.TimeUnitMicros),
			parquet.Types.Int64, writeMoments}
	case kind.ID() == arrow.INT64:
		return parquetColumn{c, kind, schema.NewIntLogicalType(64, true), parquet.Types.Int64, writeIntegers}
	case kind.ID() == arrow.FLOAT32:
		return parquetColumn{c, kind, schema.NoLogicalType{}, parquet.Types.Float, writeEncoded}
	case kind.ID() == arrow.FLOAT64:
		return parquetColumn{c, kind, schema.NoLogicalType{}, parquet.Types.Double, writeNumbers}
	}
	return parquetColumn{c, arrow.BinaryTypes.String, schema.StringLogicalType{}, parquet.Types.ByteArray, writeTexts}
}

// isFlag reports a boolean whose words are 0 and 1 in this order.
func isFlag(c *domain.Column) bool {
	l := categories(c)
	return c.Type == domain.Boolean && c.Encoding == nil && len(l) == 2 && l[0] == "0" && l[1] == "1"
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

// piece writes a record of at most pieceRows rows into the row group, or into a new one where that is full.
func (p *parquetWriter) piece(r arrow.Record) error {
	if p.rows == 0 {
		if err := p.endGroup(); err != nil {
			return err
		}
		p.group = p.out.AppendBufferedRowGroup()
	}
	for i, c := range p.columns {
		w, err := p.group.Column(i)
		if err == nil {
			err = c.write(w, c.Column, r.Column(i), p.present(c.Column, r.Column(i)))
		}
		if err != nil {
			return err
		}
	}
	if p.rows += r.NumRows(); p.rows >= rowGroup {
		p.rows = 0
	}
	return p.sink.err
}

// present returns the definition level of each cell of a column.
func (p *parquetWriter) present(c *domain.Column, cells arrow.Array) []int16 {
	levels := p.levels[:cells.Len()]
	for i := range levels {
		levels[i] = 1
		if cells.IsNull(i) || codesMissing(c, cells, i) {
			levels[i] = 0
		}
	}
	return levels
}

func (p *parquetWriter) endGroup() error {
	if p.group == nil {
		return nil
	}
	return p.group.Close()
}

// close writes the last row group and the footer.
func (p *parquetWriter) close() error {
	err := p.endGroup()
	if err == nil {
		err = p.out.Close()
	}
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

// cellWriter writes the cells of a column whose levels are 1 into a chunk of a row group.
type cellWriter func(w file.ColumnChunkWriter, c *domain.Column, cells arrow.Array, levels []int16) error

// batchWriter is implemented by the writer of each physical type.
type batchWriter[T any] interface {
	WriteBatch(values []T, levels, repeated []int16) (int64, error)
}

// writeCells writes what convert makes of the cells that are there.
func writeCells[C, T any](w file.ColumnChunkWriter, c *domain.Column, cells []C, levels []int16,
	convert func(C) (T, error)) error {
	out, ok := w.(batchWriter[T])
	if !ok {
		return fmt.Errorf("column %q: has a writer of %s, which takes no %T", c.Name, w.Type(), *new(T))
	}
	values := make([]T, 0, len(cells))
	for i, cell := range cells {
		if levels[i] == 0 {
			continue
		}
		v, err := convert(cell)
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		values = append(values, v)
	}
	_, err := out.WriteBatch(values, levels, nil)
	return err
}

// same converts a value that is stored as it is in memory.
func same[T any](v T) (T, error) { return v, nil }

func writeNumbers(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Float64)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Float64Values(), levels, same)
}

func writeEncoded(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Float32)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Float32Values(), levels, same)
}

func writeIntegers(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int64)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Int64Values(), levels, same)
}

func writeDates(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int64)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Int64Values(), levels, func(day int64) (int32, error) {
		if day < math.MinInt32 || day > math.MaxInt32 {
			return 0, errDate
		}
		return int32(day), nil
	})
}

// writeMoments writes seconds as microseconds.
func writeMoments(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int64)
	if !ok {
		return otherType(c, a)
	}
	least, greatest := c.Type.Span()
	return writeCells(w, c, v.Int64Values(), levels, func(second int64) (int64, error) {
		if x := float64(second); x < least || x > greatest {
			return 0, errMoment
		}
		return second * 1e6, nil
	})
}

func writeFlags(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int32)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Int32Values(), levels, func(code int32) (bool, error) {
		if code != 0 && code != 1 {
			return false, errCode
		}
		return code == 1, nil
	})
}

func writeTexts(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.String)
	if !ok {
		return otherType(c, a)
	}
	texts := make([]parquet.ByteArray, v.Len())
	for i := range texts {
		texts[i] = parquet.ByteArray(v.Value(i))
	}
	return writeCells(w, c, texts, levels, same)
}

// wordWriter returns a writer of codes as the words of their categories. A dictionary holds all categories in their
// order, so that readers of Arrow know those that no row has.
func wordWriter(c *domain.Column) cellWriter {
	list := categories(c)
	words := textArray(list)
	return func(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
		v, ok := a.(*array.Int32)
		if !ok {
			return otherType(c, a)
		}
		codes := v.Int32Values()
		for i, code := range codes {
			if levels[i] == 1 && (code < 0 || int(code) >= len(list)) {
				return fmt.Errorf("column %q: %w", c.Name, errCode)
			}
		}
		if encoder, ok := w.CurrentEncoder().(dictionaryEncoder); ok {
			return writeCodes(w, encoder, words, codes, levels)
		}
		return writeCells(w, c, codes, levels, func(code int32) (parquet.ByteArray,
			error) {
			return parquet.ByteArray(list[code]), nil
		})
	}
}

// dictionaryEncoder is implemented by the encoder of a column that has a dictionary.
type dictionaryEncoder interface {
	PutDictionary(words arrow.Array) error
	PreservedDictionary() arrow.Array
}

// writeCodes writes codes into a column chunk whose dictionary is words.
func writeCodes(w file.ColumnChunkWriter, encoder dictionaryEncoder, words *array.String, codes []int32,
	levels []int16) error {
	if encoder.PreservedDictionary() == nil {
		if err := encoder.PutDictionary(words); err != nil {
			return err
		}
	}
	indices, used := usedCodes(codes, levels, words.Len())
	var shown []string
	for i, is := range used {
		if is {
			shown = append(shown, words.Value(i))
		}
	}
	stats := w.PageStatistics()
	stats.IncNulls(int64(indices.NullN()))
	stats.IncNumValues(int64(indices.Len() - indices.NullN()))
	if err := stats.UpdateFromArrow(textArray(shown), false); err != nil {
		return err
	}
	return w.WriteDictIndices(indices, levels, nil)
}

// usedCodes returns codes as an array that is null where a level is 0, and which of n categories it holds.
func usedCodes(codes []int32, levels []int16, n int) (*array.Int32, []bool) {
	used, there := make([]bool, n), make([]bool, len(codes))
	for i, code := range codes {
		if levels[i] == 1 {
			used[code], there[i] = true, true
		}
	}
	b := array.NewInt32Builder(memory.NewGoAllocator())
	b.AppendValues(codes, there)
	return b.NewInt32Array(), used
}

// textArray returns an array of exactly as many bytes as its texts have: statistics take the length of its buffer
// for theirs, so it must not grow as buffers of Growing do.
func textArray(texts []string) *array.String {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(texts, nil)
	return b.NewStringArray()
}

var (
	errCode = errors.New("holds a code without a category")
	errDate = errors.New("holds a date outside the range of date32")
	// errMoment is what no file can spell.
	errMoment = errors.New("holds a date-time outside the years 0 to 9999, or a time outside its day")
)

func otherType(c *domain.Column, a arrow.Array) error {
	return fmt.Errorf("column %q: is %s in memory, which no column of type %s is", c.Name, a.DataType(), c.Type)
}

// mostWords is how many numbers a dictionary of a Parquet column holds: 1 MB, above which
// the library goes on without one.
const mostWords = 1 << 17

// fewValues tells whether the domain leaves a column so few values that one dictionary
// holds them all, so that it pays and cannot overflow: categories, and numbers with bounds
// and a step. No other column has a dictionary. Why: where one overflows, Arrow 15 lists
// the two encodings of the column in the footer in the order of a Go map, and the same
// table would be written as other bytes the next time.
func fewValues(c *domain.Column) bool {
	switch {
	case c.Encoding != nil || c.Type == domain.Text:
		return false
	case c.Type.Coded():
		return true
	case c.Bounds == nil:
		return false
	}
	step := c.Step
	if step == 0 && c.Type != domain.Numeric {
		step = 1
	}
	return step > 0 && math.Floor((c.Bounds[1]-c.Bounds[0])/step) < mostWords
}
