package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/privacy"
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

// FromRecords returns a table held in memory.
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

// Map returns a table of the batches of t, each changed by f: the shape of
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
// it is empty). Memory holds the table.
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

func concatColumn(t arrow.DataType, chunks []arrow.Record, i int) (arrow.Array, error) {
	if len(chunks) == 0 {
		b := array.NewBuilder(memory.DefaultAllocator, t)
		return b.NewArray(), nil
	}
	parts := make([]arrow.Array, len(chunks))
	for j, c := range chunks {
		parts[j] = c.Column(i)
	}
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// Clone returns a copy of headers that shares nothing which a stage could write to:
// what is checked and printed stays what it was.
func (h Headers) Clone() Headers {
	out := make(Headers, len(h))
	for port, one := range h {
		out[port] = one.Clone()
	}
	return out
}

// Clone returns a copy with a domain of its own.
func (h Header) Clone() Header {
	h.Domain = h.Domain.DeepClone()
	h.Spelled = maps.Clone(h.Spelled)
	return h
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// View returns a copy of the plan for a stage that shows it: no number, cap, setting or
// event that a run goes by can be reached from it.
func (p *Plan) View() *Plan {
	view := *p
	view.Findings, view.Public, view.Steps = slices.Clone(p.Findings), slices.Clone(p.Public), slices.Clone(p.Steps)
	view.Epsilon.Published, view.Epsilon.Proven, view.Naive = copied(p.Epsilon.Published), copied(p.Epsilon.Proven),
		copied(p.Naive)
	view.Dataset.Budget = copied(p.Dataset.Budget)
	for i := range view.Steps {
		s := copied(view.Steps[i])
		s.Outputs, s.Spends, s.Write = maps.Clone(s.Outputs), slices.Clone(s.Spends), slices.Clone(s.Write)
		s.Inputs, s.Settings, s.Events, s.Decided = maps.Clone(s.Inputs), slices.Clone(s.Settings), nil,
			slices.Clone(s.Decided)
		for n := range s.Spends {
			// charges are made of these; a composed event shares its parts
			s.Spends[n].Event, s.Spends[n].Value = privacy.JSON{}, nil
		}
		for port, refs := range s.Inputs {
			s.Inputs[port] = slices.Clone(refs)
		}
		for _, f := range []**float64{&s.NoiseMultiplier, &s.Share, &s.Alone, &s.Cumulative, &s.Published} {
			*f = copied(*f)
		}
		view.Steps[i] = s
	}
	return &view
}

// ColumnsAre begins a finding about columns: "column age is", or "columns age, sex are"; of more than
// manyColumns it names the first. One error about all of them is read, one each is not.
func ColumnsAre(names []string) string {
	const manyColumns = 8
	switch n := len(names); {
	case n == 1:
		return "column " + names[0] + " is"
	case n > manyColumns:
		return fmt.Sprintf("columns %s and %d more are", strings.Join(names[:manyColumns], ", "), n-manyColumns)
	}
	return "columns " + strings.Join(names, ", ") + " are"
}

// File is a named piece of an artifact: a page of a report, a tensor of a model.
type File struct {
	Name string
	Data []byte
}

// IsFiles reports whether an artifact of the form is files; all others are rows.
func (f Form) IsFiles() bool {
	switch f {
	case FormModel, FormDetector, FormFiles, FormCount, FormAnswers:
		return true
	}
	return false
}

// WriteFiles returns the artifact of header h that is files, in their order. Their data must not be changed afterwards.
func WriteFiles(h Header, files []File) Table {
	return Table{Header: h, Files: func(ctx context.Context) ([]File, error) { return slices.Clone(files), ctx.Err() }}
}

// ReadFiles returns the files of an artifact, in the order in which they were written. Their data is shared by all who
// read them and must not be changed.
func ReadFiles(ctx context.Context, t Table) ([]File, error) {
	if t.Files == nil {
		return nil, errors.New("the artifact is rows, must be files")
	}
	return t.Files(ctx)
}
