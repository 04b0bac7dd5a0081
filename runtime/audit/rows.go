package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/privacy"
	"weir/runtime/files"
)

// Change says how the rows of a rehearsal differ from the rows of its dataset. Places are counted from 0 in the order
// of the source, before max_rows leaves any row out. The zero value changes nothing.
type Change struct {
	Drop []int64                // places of rows that are left out
	Put  map[int64]arrow.Record // one row each, instead of the row at a place
	Add  []arrow.Record         // rows behind all others; records have the columns of the dataset's domain
}

// touched lists the places that are left out or replaced, ascending.
func (c Change) touched() []int64 {
	places := slices.Clone(c.Drop)
	for place := range c.Put {
		places = append(places, place)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// edited is the source of a dataset with a change of its rows. It declares no file and nobody's rows: whoever runs it
// finds another dataset than the one that it reads, so that neither owner file nor ledger of that one is touched.
type edited struct {
	pipeline.Source
	declared pipeline.Declared // of the source
	files    *files.Held
	change   Change
}

// MarshalYAML writes the settings of the source: a canonical spec does not know of the change.
func (e *edited) MarshalYAML() (any, error) { return e.Source, nil }

// Open implements pipeline.Source, with the files of the source in place of the files of the run.
func (e *edited) Open(ctx context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	o.Files = e.files.Only(e.declared.Files...)
	opened, err := e.Source.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &editedRows{opened, e.change}, nil
}

// editedRows hides what the source knows besides rows, such as the server that they come from.
type editedRows struct {
	pipeline.Opened
	change Change
}

// Content implements pipeline.Opened: the content of the source and what was changed.
func (e *editedRows) Content(ctx context.Context) (string, error) {
	content, err := e.Opened.Content(ctx)
	if err != nil {
		return "", err
	}
	var put []string
	for place, row := range e.change.Put {
		put = append(put, fmt.Sprint(place, " ", row))
	}
	slices.Sort(put)
	changed, err := json.Marshal([]any{content, e.change.Drop, put, fmt.Sprint(e.change.Add)})
	return privacy.Digest(changed), err
}

// Table implements pipeline.Opened.
func (e *editedRows) Table() pipeline.Table {
	t := e.Opened.Table()
	read, touched := t.Open, e.change.touched()
	t.Open = func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			var place int64
			schema := t.Schema
			for rec, err := range read(ctx) {
				if err != nil {
					yield(nil, err)
					return
				}
				schema = rec.Schema()
				pieces, err := e.change.pieces(rec, place, touched)
				if !all(pieces, err, yield) {
					return
				}
				place += rec.NumRows()
			}
			for _, rows := range e.change.Add {
				if rows, err := fitted(rows, schema); !yield(rows, err) || err != nil {
					return
				}
			}
		}
	}
	return t
}

// all yields records, or an error; it reports whether more are asked for.
func all(records []arrow.Record, err error, yield func(arrow.Record, error) bool) bool {
	if err != nil {
		yield(nil, err)
		return false
	}
	for _, rec := range records {
		if !yield(rec, nil) {
			return false
		}
	}
	return true
}

// pieces cuts a record, whose first row is at a place, where rows are left out or replaced.
func (c Change) pieces(rec arrow.Record, place int64, touched []int64) (list []arrow.Record, err error) {
	var start int64
	cut := func(to int64) {
		if to > start {
			list = append(list, rec.NewSlice(start, to))
		}
	}
	first, _ := slices.BinarySearch(touched, place)
	for _, pos := range touched[first:] {
		if pos >= place+rec.NumRows() {
			break
		}
		cut(pos - place)
		start = pos - place + 1
		row, replaced := c.Put[pos]
		if !replaced || slices.Contains(c.Drop, pos) {
			continue
		}
		if row, err = fitted(row, rec.Schema()); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	cut(rec.NumRows())
	return list, nil
}

// fitted returns rows with the columns of a schema, by name; a column that they lack has no value, such as
// pipeline.UnlistedColumn.
func fitted(rows arrow.Record, schema *arrow.Schema) (arrow.Record, error) {
	if rows.Schema().Equal(schema) {
		return rows, nil
	}
	columns := make([]arrow.Array, schema.NumFields())
	for i, field := range schema.Fields() {
		pos := rows.Schema().FieldIndices(field.Name)
		switch {
		case len(pos) == 0:
			columns[i] = array.MakeArrayOfNull(memory.DefaultAllocator, field.Type, int(rows.NumRows()))
		case !arrow.TypeEqual(rows.Column(pos[0]).DataType(), field.Type):
			return nil, fmt.Errorf("rows to add: column %s is %s, must be %s", field.Name,
				rows.Column(pos[0]).DataType(), field.Type)
		default:
			columns[i] = rows.Column(pos[0])
		}
	}
	return array.NewRecord(schema, columns, rows.NumRows()), nil
}
