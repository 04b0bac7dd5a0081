package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	lib "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table/internal/parquet"
)

// Endings implements Writer.
func (parquetFormat) Endings() []string { return []string{".parquet"} }

// Usual implements Writer.
func (parquetFormat) Usual() bool { return true }

// MediaType implements Writer.
func (parquetFormat) MediaType() string { return "application/x-parquet" }

// Text implements Writer.
func (parquetFormat) Text() bool { return false }

// Write implements Writer: numeric as double, integer as int64, date as date32, datetime as timestamp and time as
// time64 (of microseconds), text as utf8, categories as a dictionary of their spellings, booleans of 0 and 1 as
// boolean, encoded columns as float.
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
	return p.out.Close()
}

// parquetWriter writes the records of a domain as the columns of one file.
type parquetWriter struct {
	out     *parquet.Writer
	columns []parquetColumn
	levels  []int16 // of the column that is written: 1 for a value, 0 for a missing one
}

// parquetColumn says how a column of a domain is stored.
type parquetColumn struct {
	*domain.Column
	kind    arrow.DataType // which readers of Arrow give it
	logical schema.LogicalType
	stored  lib.Type
	write   cellWriter
}

func newParquetWriter(w io.Writer, d *domain.Domain) (*parquetWriter, error) {
	p := &parquetWriter{columns: make([]parquetColumn, len(d.Columns)), levels: make([]int16, parquet.PieceRows)}
	stored := make([]parquet.Column, len(d.Columns))
	for i := range d.Columns {
		c := storedColumn(&d.Columns[i])
		p.columns[i] = c
		stored[i] = parquet.Column{Name: c.Name, Kind: c.kind, Logical: c.logical, Stored: c.stored, Few: fewValues(c.Column)}
	}
	var err error
	p.out, err = parquet.NewWriter(w, stored)
	return p, err
}

// storedColumn chooses how a column is stored.
func storedColumn(c *domain.Column) parquetColumn {
	switch kind := c.ArrowType(); {
	case kind.ID() == arrow.INT32 && isFlag(c):
		return parquetColumn{c, arrow.FixedWidthTypes.Boolean, schema.NoLogicalType{}, lib.Types.Boolean, writeFlags}
	case kind.ID() == arrow.INT32:
		words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		return parquetColumn{c, words, schema.StringLogicalType{}, lib.Types.ByteArray, wordWriter(c)}
	case c.Type == domain.Date && c.Encoding == nil:
		return parquetColumn{c, arrow.FixedWidthTypes.Date32, schema.DateLogicalType{}, lib.Types.Int32, writeDates}
	case c.Type == domain.Datetime && c.Encoding == nil:
		stamp := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: c.Zone}
		return parquetColumn{c, stamp, schema.NewTimestampLogicalType(c.Zone != "", schema.TimeUnitMicros),
			lib.Types.Int64, writeMoments}
	case c.Type == domain.Time && c.Encoding == nil:
		return parquetColumn{c, arrow.FixedWidthTypes.Time64us, schema.NewTimeLogicalType(false, schema.TimeUnitMicros),
			lib.Types.Int64, writeMoments}
	case kind.ID() == arrow.INT64:
		return parquetColumn{c, kind, schema.NewIntLogicalType(64, true), lib.Types.Int64, writeIntegers}
	case kind.ID() == arrow.FLOAT32:
		return parquetColumn{c, kind, schema.NoLogicalType{}, lib.Types.Float, writeEncoded}
	case kind.ID() == arrow.FLOAT64:
		return parquetColumn{c, kind, schema.NoLogicalType{}, lib.Types.Double, writeNumbers}
	}
	return parquetColumn{c, arrow.BinaryTypes.String, schema.StringLogicalType{}, lib.Types.ByteArray, writeTexts}
}

// isFlag reports a boolean whose words are 0 and 1 in this order.
func isFlag(c *domain.Column) bool {
	l := categories(c)
	return c.Type == domain.Boolean && c.Encoding == nil && len(l) == 2 && l[0] == "0" && l[1] == "1"
}

func (p *parquetWriter) record(r arrow.Record) error {
	for from := int64(0); from < r.NumRows(); from += parquet.PieceRows {
		piece := r.NewSlice(from, min(from+parquet.PieceRows, r.NumRows()))
		err := p.out.Piece(piece.NumRows(), func(i int, w file.ColumnChunkWriter) error {
			c := p.columns[i]
			return c.write(w, c.Column, piece.Column(i), p.present(c.Column, piece.Column(i)))
		})
		piece.Release()
		if err != nil {
			return err
		}
	}
	return nil
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

// cellWriter writes the cells of a column whose levels are 1 into a chunk of a row group.
type cellWriter func(w file.ColumnChunkWriter, c *domain.Column, cells arrow.Array, levels []int16) error

// writeCells writes what convert makes of the cells that are there.
func writeCells[C, T any](w file.ColumnChunkWriter, c *domain.Column, cells []C, levels []int16,
	convert func(C) (T, error)) error {
	if err := parquet.WriteCells(w, cells, levels, convert); err != nil {
		return fmt.Errorf("column %q: %w", c.Name, err)
	}
	return nil
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
	texts := make([]lib.ByteArray, v.Len())
	for i := range texts {
		texts[i] = lib.ByteArray(v.Value(i))
	}
	return writeCells(w, c, texts, levels, same)
}

// wordWriter returns a writer of codes as the words of their categories.
func wordWriter(c *domain.Column) cellWriter {
	list := categories(c)
	words := parquet.NewWords(list)
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
		return words.Write(w, codes, levels)
	}
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
