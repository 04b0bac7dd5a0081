package table

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Raw is a file read without a domain: names of columns as the file has them
// (nil without a header) and values as they are spelled. Only `weir domain
// infer` reads so.
type Raw struct {
	Names  []string
	Stored []domain.Column // the plainest columns that read what is stored, without names; nil for text files
	// columns of the file that are not among the others, since no domain can declare them
	Unread []UnreadColumn
	Rows   iter.Seq2[[][]byte, error] // a row is valid until the next

	format string // name of its Format
}

// UnreadColumn is a column whose stored type is not read.
type UnreadColumn struct {
	Name  string
	Place int    // in the file, from 1
	Type  string // a word of Arrow, such as list or binary
}

// OpenRaw reads the header of a file: text as csv says, Parquet or Arrow.
func OpenRaw(ctx context.Context, fsys FS, name string, csv *pipeline.CSV) (*Raw, error) {
	return openRaw(ctx, fsys, name, csv, options{})
}

// openRaw opens with options.
func openRaw(ctx context.Context, fsys FS, name string, csv *pipeline.CSV, o options) (*Raw, error) {
	d, err := newDialect(name, csv)
	if err != nil {
		return nil, err
	}
	s, err := openStream(fsys, name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	f, err := formatOf(name, s.head)
	if err != nil {
		return nil, err
	}
	r, err := f.raw(ctx, &input{options: o.filled(), fsys: fsys, name: name, stream: s, dialect: d})
	if r != nil {
		r.format = f.Name()
	}
	return r, err
}

// raw reads the header of a text.
func (textFormat) raw(ctx context.Context, in *input) (*Raw, error) {
	name, d := in.name, in.dialect
	if err := in.stream.asText(name, d); err != nil {
		return nil, err
	}
	head, line, err := firstText(in.stream, d)
	if err != nil {
		return nil, readError(name, err)
	}
	values, _, rule := firstRecord(d, head)
	if rule == "" && returned(values) {
		rule = ruleReturn
	}
	if rule != "" {
		return nil, &Error{Problems: []Problem{{File: name, Line: line, Unit: "line", Rule: rule}}}
	}
	if len(values) == 0 {
		return nil, wrong(name, ruleEmpty)
	}
	r := &Raw{Rows: func(yield func([][]byte, error) bool) { rawText(ctx, in.fsys, name, d, yield) }}
	if d.header {
		r.Names = values
	}
	return r, nil
}

// IsEmpty reports that a text holds nothing but blank and comment lines.
func IsEmpty(err error) bool {
	var e *Error
	return errors.As(err, &e) && len(e.Problems) == 1 && e.Problems[0].Rule == ruleEmpty
}

// rawText yields the records of a text after its header.
func rawText(ctx context.Context, fsys FS, name string, d *dialect, yield func([][]byte, error) bool) {
	s, err := openText(fsys, name, d)
	if err != nil {
		yield(nil, err)
		return
	}
	defer s.Close()
	line, err := skipBlank(s, d)
	if err != nil {
		yield(nil, readError(name, err))
		return
	}
	split := newSplitter(untilDone{ctx, s}, d, 1<<16, chunkBytes)
	split.line = line
	t := &csvTable{name: name}
	x, row, skip := newLexer(d), [][]byte(nil), d.header
	for {
		c, err := split.next(nil)
		if err == io.EOF {
			return
		}
		if err != nil {
			err = t.ended(ctx, err, split.line)
		} else if at := d.unreadable(c.data); at >= 0 {
			err = &Error{Problems: []Problem{{File: name, Line: c.lineAt(at), Unit: "line", Rule: d.encodingRule()}}}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		x.buf, x.line = c.data, c.line
		for pos := x.skip(0); pos < len(x.buf); pos = x.skip(pos) {
			line := x.line
			var rule string
			if row, pos, rule = x.record(row[:0], pos); rule != "" {
				yield(nil, &Error{Problems: []Problem{{File: name, Line: line, Unit: "line", Rule: rule}}})
				return
			}
			if skip {
				skip = false
				continue
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// record cuts one record and returns the position after it.
func (x *lexer) record(row [][]byte, pos int) ([][]byte, int, string) {
	for {
		v, end, rule := x.value(pos)
		if rule != "" {
			return row, pos, rule
		}
		if len(x.scratch) > 0 {
			v = bytes.Clone(v)
		}
		row = append(row, v)
		if x.atEnd(end) {
			x.line++
			return row, end + 1, ""
		}
		pos = end + 1
	}
}

// rawRecords spells the rows of a file of records.
func rawRecords(in *input, open opener) (*Raw, error) {
	s, schema, err := opened(in, open)
	if err != nil {
		return nil, err
	}
	s.close()
	in.tell = nil
	r, err := rawOf(in.name, schema)
	if err != nil {
		return nil, err
	}
	r.Rows = func(yield func([][]byte, error) bool) {
		s, _, err := opened(in, open)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.close()
		spellAll(in.name, s, yield)
	}
	return r, nil
}

// rawOf returns a table of a stored schema, yet without rows.
func rawOf(name string, schema *arrow.Schema) (*Raw, error) {
	r := &Raw{}
	for i, f := range schema.Fields() {
		if c, ok := declarable(f.Type); ok {
			r.Names, r.Stored = append(r.Names, f.Name), append(r.Stored, c)
			continue
		}
		r.Unread = append(r.Unread, UnreadColumn{Name: f.Name, Place: i + 1, Type: f.Type.Name()})
	}
	if len(r.Names) == 0 {
		return nil, wrong(name, "has no column of a type that is read; accepted: booleans, numbers, decimals, dates, times "+
			"and texts")
	}
	return r, nil
}

// spellAll spells the rows of a source to its end.
func spellAll(name string, s recordSource, yield func([][]byte, error) bool) {
	for {
		record, err := guardedNext(s)
		if err == io.EOF {
			return
		}
		if err != nil {
			yield(nil, sourceError(name, err))
			return
		}
		if !spellRows(record, s.columns(), yield) {
			return
		}
	}
}

// guardedNext reads a record; the libraries panic on damaged files.
func guardedNext(s recordSource) (r arrow.Record, err error) {
	defer func() {
		if e := recover(); e != nil {
			r, err = nil, errBroken
		}
	}()
	return s.next()
}

// opened opens the columns of a file that can be read; the libraries panic on damaged ones.
func opened(in *input, open opener) (_ recordSource, _ *arrow.Schema, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = wrong(in.name, "is damaged: %v", errBroken)
		}
	}()
	return open(in, func(s *arrow.Schema) (layout, error) {
		all := make(layout, s.NumFields())
		for i := range all {
			if all[i] = i; !readable(s.Field(i).Type) {
				all[i] = -1
			}
		}
		return all, nil
	})
}

// spellRows spells the columns that have a place in the layout.
func spellRows(r arrow.Record, l layout, yield func([][]byte, error) bool) bool {
	var read []arrow.Array
	var columns []func([]byte, int) []byte
	for i, a := range r.Columns() {
		if l[i] >= 0 {
			read, columns = append(read, a), append(columns, spelled(a))
		}
	}
	row := make([][]byte, len(columns))
	for i := range int(r.NumRows()) {
		for j := range row {
			row[j] = row[j][:0]
			if !isMissing(read[j], i) {
				row[j] = columns[j](row[j], i)
			}
		}
		if !yield(row, nil) {
			return false
		}
	}
	return true
}
