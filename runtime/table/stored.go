package table

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

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

// OpenStored is OpenParts of a stored table, and returns the places of the columns that it reads. Of csv it takes what
// becomes of cells (missing, unknown) and of columns (extra); how text is written means nothing here.
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

// RawStored is OpenRaw of a stored table: values are spelled as a Parquet file spells them.
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
