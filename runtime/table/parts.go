package table

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Parts names a table by its files, in the order of their rows.
type Parts struct {
	Name  string   // what people call the table: its file, or the pattern of several
	Files []string // one at least

	Tell func(note string) // takes what the owner should know of how a file is read; nil drops it
}

// One returns a table in one file.
func One(file string) Parts { return Parts{Name: file, Files: []string{file}} }

// OpenParts opens, as Open does, a table in several files of one format, each of which is held against the domain by
// itself. The problems of all files are told together. Of names the table's alone says how rows are read.
//
// unit is the column that names privacy units, or "". Where values outside its categories become missing (csv.unknown),
// records have a column more than the header, pipeline.UnlistedColumn: the name of a value that became missing so, and
// null in all other rows. What names a unit goes on doing so until the unit's rows are counted.
func OpenParts(fsys FS, p Parts, csv *pipeline.CSV, d *domain.Domain, unit string) (pipeline.Table, error) {
	o := options{unit: unit, called: p.Name, tell: p.Tell}
	if len(p.Files) == 1 {
		return openWith(fsys, p.Files[0], csv, d, o)
	}
	var whole pipeline.Table
	var opened []rowReader
	var first Format
	all := &problems{}
	for _, name := range p.Files {
		t, f, err := openAs(fsys, name, csv, d, o)
		if first == nil {
			first = f
		}
		if err == nil && f != first {
			err = mixed(name, f.Name(), p.Files[0], first.Name())
		}
		if err != nil {
			if !all.takeError(err) {
				return whole, err
			}
			continue
		}
		whole.Header, opened = t.Header, append(opened, t.Open)
	}
	whole.Open = inTurn(opened)
	return whole, all.err(false)
}

// mixed refuses a file of another format than the first.
func mixed(name, format, other, first string) error {
	return wrong(name, "is of the format %s where %s is %s; the files of one table must be of one format",
		format, other, first)
}

// takeError takes up the problems of an error of this package; of any other it reports false.
func (p *problems) takeError(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, one := range e.Problems {
		p.merge(one)
	}
	p.stopped = p.stopped || e.Stopped
	return true
}

// inTurn reads several files one after the other. Behind the first problem it only looks for more, in the other files
// too.
func inTurn(parts []rowReader) rowReader {
	return func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			all := &problems{}
			for i, open := range parts {
				for rec, err := range open(ctx) {
					if err != nil && !all.takeError(err) {
						yield(nil, err)
						return
					}
					if err == nil && len(all.list) == 0 && !yield(rec, nil) {
						return
					}
				}
				if all.full() && i < len(parts)-1 {
					all.stopped = true
					break
				}
			}
			if err := all.err(all.stopped); err != nil {
				yield(nil, err)
			}
		}
	}
}

// OpenRawParts opens, as OpenRaw does, a table in several files of one format, whose columns must have the same names,
// in any order, or be as many where there are no names. The first has the columns, and their order.
func OpenRawParts(ctx context.Context, fsys FS, p Parts, csv *pipeline.CSV) (*Raw, error) {
	o := options{tell: p.Tell}
	if len(p.Files) == 1 {
		return openRaw(ctx, fsys, p.Files[0], csv, o)
	}
	w := &rawParts{files: p.Files}
	for _, name := range p.Files {
		r, err := openRaw(ctx, fsys, name, csv, o)
		if err != nil {
			return nil, err
		}
		w.parts = append(w.parts, r)
		places, err := w.places(r, name)
		if err != nil {
			return nil, err
		}
		w.at = append(w.at, places)
	}
	whole := *w.parts[0]
	whole.Rows = w.rows
	return &whole, nil
}

// rawParts is the raw table of several files.
type rawParts struct {
	files []string
	parts []*Raw
	at    [][]int // of each file: where it has the columns of the first; nil where they have no names
}

// places finds the columns of the first file in another one.
func (w *rawParts) places(r *Raw, name string) (found []int, err error) {
	first, other := w.parts[0], w.files[0]
	if r.format != first.format {
		return nil, mixed(name, r.format, other, first.format)
	}
	all := &problems{}
	add := func(column, rule string) { all.merge(Problem{File: name, Column: column, Rule: rule}) }
	free := map[string][]int{}
	for i, column := range r.Names {
		free[column] = append(free[column], i)
	}
	for _, column := range first.Names {
		if len(free[column]) == 0 {
			add(column, "is not here and in "+other+r.unreadAs(column))
			continue
		}
		found, free[column] = append(found, free[column][0]), free[column][1:]
	}
	for i, column := range r.Names {
		if slices.Contains(free[column], i) {
			add(column, "is here and not in "+other+first.unreadAs(column))
		}
	}
	return found, all.err(false)
}

// unreadAs says of a column that the file has how it is stored, where that is not read.
func (r *Raw) unreadAs(column string) string {
	for _, c := range r.Unread {
		if c.Name == column {
			return ", where it is stored as " + c.Type + ", which is not read"
		}
	}
	return ""
}

// rows yields the rows of all files, with the columns of the first.
func (w *rawParts) rows(yield func([][]byte, error) bool) {
	width := len(w.at[0])
	var row [][]byte
	for i, r := range w.parts {
		n := int64(0)
		for values, err := range r.Rows {
			n++
			if width == 0 {
				width = len(values)
			}
			if err == nil && len(values) != width {
				err = &Error{Problems: []Problem{{File: w.files[i], Line: n, Unit: "row",
					Rule: fmt.Sprintf("has %d values where the table has %d columns", len(values), width)}}}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if row = arranged(row[:0], values, w.at[i]); !yield(row, nil) {
				return
			}
		}
	}
}

// arranged appends the values at these places, all where there are none.
func arranged(row, values [][]byte, places []int) [][]byte {
	if places == nil {
		return append(row, values...)
	}
	for _, i := range places {
		row = append(row, values[i])
	}
	return row
}
