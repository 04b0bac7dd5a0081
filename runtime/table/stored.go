package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Stored is a table that another program reads, such as a database: it hands over records of the types in which it
// stores them, and they are held against a domain as records of a Parquet file are.
type Stored struct {
	Name   string        // what messages call the table
	Schema *arrow.Schema // all columns; one of a type that is not read may only be left out
	// Begin starts a reading of the columns at places of Schema.
	Begin func(ctx context.Context, places []int) (StoredRows, error)
}

// StoredRows is one reading of a stored table.
type StoredRows interface {
	// Next returns the next record, whose columns are those that were asked for, in that order; io.EOF behind the last.
	// An error quotes no cell.
	Next() (arrow.Record, error)
	// Close ends the reading, whether all rows were read or not.
	Close()
}

// OpenStored opens, as OpenParts does, a stored table, and returns the places of the columns that it reads. Of csv it
// takes what becomes of cells (missing, unknown) and of columns (extra); how text is written means nothing here.
func OpenStored(s Stored, csv *pipeline.CSV, d *domain.Domain, unit string) (pipeline.Table, []int, error) {
	dialect, err := newDialect(s.Name, csv)
	if err != nil {
		return pipeline.Table{}, nil, err
	}
	dialect.unit = unlistedUnit(d, dialect, unit)
	all, err := matchSchema(s.Name, s.Schema, dialect, d)
	if err != nil {
		return pipeline.Table{}, nil, err
	}
	var places []int
	var read layout
	for i, at := range all {
		if at >= 0 {
			places, read = append(places, i), append(read, at)
		}
	}
	private := pipeline.Header{Class: pipeline.Private, Stability: pipeline.Unbounded()}
	t := pipeline.Table{Header: pipeline.TableHeader(d, private)}
	t.Open = func(ctx context.Context) pipeline.Batches {
		return convertAll(ctx, s.Name, d, dialect, func(ctx context.Context) (recordSource, error) {
			rows, err := s.Begin(ctx, places)
			return storedRows{rows, read}, err
		})
	}
	return t, places, nil
}

// RawStored opens, as OpenRaw does, a stored table: values are spelled as a Parquet file spells them.
func RawStored(ctx context.Context, s Stored) (*Raw, error) {
	r, err := rawOf(s.Name, s.Schema)
	if err != nil {
		return nil, err
	}
	var places []int
	var read layout
	for i, f := range s.Schema.Fields() {
		if readable(f.Type) {
			read, places = append(read, len(places)), append(places, i)
		}
	}
	r.Rows = func(yield func([][]byte, error) bool) {
		rows, err := s.Begin(ctx, places)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		spellAll(s.Name, storedRows{rows, read}, yield)
	}
	return r, nil
}

// storedRows is a reading as a source of records.
type storedRows struct {
	rows   StoredRows
	layout layout
}

func (s storedRows) columns() layout { return s.layout }
func (s storedRows) close()          { s.rows.Close() }

func (s storedRows) next() (arrow.Record, error) {
	r, err := s.rows.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		err = reportedError{err}
	}
	return r, err
}

// reportedError is an error of whoever reads a stored table: it says all that there is to say.
type reportedError struct{ error }

// Unwrap returns the error of the reader.
func (e reportedError) Unwrap() error { return e.error }

// Typed returns a table as a database stores it, with its schema: numeric as double, integer as int64, date as date32,
// datetime as timestamp and time as time64 (of microseconds), text and categories as utf8, booleans of 0 and 1 as
// boolean. Read back by the same domain these are the same rows. A column behind the stage encode is an error; so is,
// in a reading, a value that the domain does not cover.
func Typed(t pipeline.Table) (*arrow.Schema, func(context.Context) pipeline.Batches, error) {
	fields := make([]arrow.Field, len(t.Domain.Columns))
	for i := range t.Domain.Columns {
		c := &t.Domain.Columns[i]
		if c.Encoding != nil {
			return nil, nil, fmt.Errorf("column %q: is encoded, must be as it was before the stage encode", c.Name)
		}
		kind := storedColumn(c).kind
		if kind.ID() == arrow.DICTIONARY {
			kind = arrow.BinaryTypes.String
		}
		fields[i] = arrow.Field{Name: c.Name, Type: kind, Nullable: c.Nullable}
	}
	schema := arrow.NewSchema(fields, nil)
	return schema, func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			for r, err := range t.Open(ctx) {
				if err == nil {
					r, err = typed(schema, t.Domain, r)
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}, nil
}

// typed converts a record.
func typed(schema *arrow.Schema, d *domain.Domain, r arrow.Record) (arrow.Record, error) {
	columns := make([]arrow.Array, len(d.Columns))
	for i := range columns {
		a, err := typedCells(schema.Field(i).Type, &d.Columns[i], r.Column(i))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", d.Columns[i].Name, err)
		}
		columns[i] = a
	}
	return array.NewRecord(schema, columns, r.NumRows()), nil
}

func typedCells(kind arrow.DataType, c *domain.Column, cells arrow.Array) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, kind)
	defer b.Release()
	words := categories(c)
	for i := range cells.Len() {
		if cells.IsNull(i) || codesMissing(c, cells, i) {
			b.AppendNull()
			continue
		}
		if err := appendTyped(b, c, words, cells, i); err != nil {
			return nil, err
		}
	}
	return b.NewArray(), nil
}

var errNotFinite = errors.New("holds a number that is not finite")

// appendTyped appends cell i, which is there. words are the categories of a column that has some.
func appendTyped(b array.Builder, c *domain.Column, words []string, from arrow.Array, i int) error {
	switch cells := from.(type) {
	case *array.Int32:
		code := cells.Value(i)
		if code < 0 || int(code) >= len(words) {
			return errCode
		}
		if flags, ok := b.(*array.BooleanBuilder); ok {
			flags.Append(code == 1)
		} else {
			b.(*array.StringBuilder).Append(words[code])
		}
	case *array.Float64:
		x := cells.Value(i)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return errNotFinite
		}
		b.(*array.Float64Builder).Append(x)
	case *array.String:
		b.(*array.StringBuilder).Append(cells.Value(i))
	case *array.Int64:
		return appendWhole(b, c, cells.Value(i))
	default:
		return otherType(c, cells)
	}
	return nil
}

// appendWhole appends a whole number, or the day or second that it is.
func appendWhole(b array.Builder, c *domain.Column, v int64) error {
	if least, most := c.Type.Span(); c.Type.Calendar() && (float64(v) < least || float64(v) > most) {
		return errMoment
	}
	switch b := b.(type) {
	case *array.Date32Builder:
		b.Append(arrow.Date32(v))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v * 1e6))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v * 1e6))
	default:
		b.(*array.Int64Builder).Append(v)
	}
	return nil
}
