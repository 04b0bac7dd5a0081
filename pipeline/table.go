package pipeline

import (
	"context"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline/domain"
	"weir/pipeline/relation"
)

// Batches is a stream of record batches of one schema; it ends after the first
// error. A record is valid until the next one is asked for, unless retained.
type Batches = iter.Seq2[arrow.Record, error]

// Table is an artifact: a header and a way to read its rows, or its files where its form has these, any number of
// times. Memory need not grow with its rows.
type Table struct {
	Header
	Open   func(context.Context) Batches         // nil of files
	Files  func(context.Context) ([]File, error) // nil of rows; see ReadFiles
	Pushed *Pushed                               // nil: the rows are computed by weir alone
}

// Pushed is the rows of a table as the database that stores the dataset computes them: the same ones, in any order.
type Pushed struct {
	Relation relation.Relation // gives the columns of the table, in their order
	Session  relation.Session
}

// Tables maps port names to tables; see Headers for ports that take many.
type Tables map[string]Table

// StoredRelation returns the table of a domain whose rows are stored as its columns are.
func StoredRelation(d *domain.Domain) relation.Relation {
	types := make([]relation.Type, len(d.Columns))
	for i := range d.Columns {
		types[i] = RelationType(&d.Columns[i])
	}
	return relation.Stored(d.Names(), types)
}

// RelationType returns the type of the values of a column.
func RelationType(c *domain.Column) relation.Type {
	switch {
	case c.Encoding == nil && c.Type.Coded():
		return relation.Code
	case c.Encoding == nil && c.Type == domain.Text:
		return relation.Text
	case c.Encoding == nil && c.Type != domain.Numeric:
		return relation.Whole
	case c.Encoding != nil && c.Encoding.Form == domain.OneHot:
		return relation.Code
	}
	return relation.Real
}

// FromRecords is a table held in memory.
func FromRecords(h Header, records ...arrow.Record) Table {
	return Table{Header: h, Open: func(ctx context.Context) Batches {
		return func(yield func(arrow.Record, error) bool) {
			for _, r := range records {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}}
}

// Map is a table whose batches are those of t, each changed by f: the shape of
// every row-by-row stage, in constant memory.
func (t Table) Map(h Header, f func(arrow.Record) (arrow.Record, error)) Table {
	return Table{Header: h, Open: func(ctx context.Context) Batches {
		return func(yield func(arrow.Record, error) bool) {
			for r, err := range t.Open(ctx) {
				if err == nil {
					r, err = f(r)
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}}
}

// Collect reads all rows of a table as one record (nil columns of zero rows where
// it is empty). Memory is that of the table.
func (t Table) Collect(ctx context.Context) (arrow.Record, error) {
	var chunks []arrow.Record
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		r.Retain()
		chunks = append(chunks, r)
	}
	return concat(t.Schema, chunks)
}

func concat(schema *arrow.Schema, chunks []arrow.Record) (arrow.Record, error) {
	if len(chunks) == 1 {
		return chunks[0], nil
	}
	columns := make([]arrow.Array, schema.NumFields())
	var rows int64
	for _, c := range chunks {
		rows += c.NumRows()
	}
	for i := range columns {
		column, err := concatColumn(schema.Field(i).Type, chunks, i)
		if err != nil {
			return nil, err
		}
		columns[i] = column
	}
	return array.NewRecord(schema, columns, rows), nil
}
