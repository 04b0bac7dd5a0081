package table

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table/internal/parquet"
)

// recordSource is an opened file of Arrow records.
type recordSource interface {
	columns() layout
	next() (arrow.Record, error) // io.EOF after the last
	close()
}

// matcher says which declared column each column of a stored schema is; -1 is not read.
type matcher = func(*arrow.Schema) (layout, error)

// opener opens a file of records at its first one.
type opener = func(in *input, match matcher) (recordSource, *arrow.Schema, error)

// openRecords checks the schema of a file of records; they are read when the function is called.
func openRecords(in *input, open opener) (rowReader, error) {
	match := func(s *arrow.Schema) (layout, error) { return matchSchema(in.name, s, in.dialect, in.domain) }
	s, _, err := open(in, match)
	if err != nil {
		return nil, err
	}
	s.close()
	in.tell = nil // it has been told
	return func(ctx context.Context) pipeline.Batches {
		return convertAll(ctx, in.name, in.domain, in.dialect, func(context.Context) (recordSource, error) {
			s, _, err := open(in, match)
			return s, err
		})
	}, nil
}

// matchSchema matches names and types at once.
func matchSchema(name string, s *arrow.Schema, d *dialect, dom *domain.Domain) (layout, error) {
	p := &problems{file: name, unit: "row"}
	names := make([]string, s.NumFields())
	for i := range names {
		names[i] = s.Field(i).Name
	}
	l := byName(names, dom, p, 0, d.extra(func(i int) string {
		if kind := s.Field(i).Type; !readable(kind) {
			return fmt.Sprintf("column %d of the file is stored as %s, which is not read; leave it out when the file is "+
				"written, or set csv.extra: ignore", i+1, kind.Name())
		}
		return undeclared(i)
	}))
	checkTypes(s, l, dom, d, p)
	return l, p.err(false)
}

// convertAll streams the records of a file as records of a domain.
func convertAll(ctx context.Context, name string, dom *domain.Domain, d *dialect,
	open func(context.Context) (recordSource, error)) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		s, err := open(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.close()
		c := &conversion{converter: newConverter(dom, d, s.columns()), problems: &problems{file: name, unit: "row"},
			source: s, row: 1}
		if err := c.run(ctx, yield); err != nil {
			yield(nil, err)
		}
	}
}

type conversion struct {
	*converter
	problems *problems
	source   recordSource
	row      int64
}

// run yields records until a problem is found, then collects more problems.
func (c *conversion) run(ctx context.Context, yield func(arrow.Record, error) bool) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := c.step()
		if err == io.EOF {
			return c.problems.err(false)
		}
		if err != nil {
			return joined(c.problems, sourceError(c.problems.file, err))
		}
		if c.problems.full() {
			return c.problems.err(true)
		}
		if r == nil || len(c.problems.list) > 0 {
			continue
		}
		if !yield(r, nil) {
			return nil
		}
	}
}

// sourceError says whether the disk, the form or the content of a file failed.
func sourceError(name string, err error) error {
	var disk parquet.UnreadableError
	var kind parquet.UnsupportedError
	var known *Error
	var reported reportedError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &reported):
		return reported.error
	case errors.As(err, &disk):
		return readError(name, disk.Err)
	case errors.As(err, &kind):
		return wrong(name, "%v", kind)
	}
	return wrong(name, "is damaged: %v", err)
}

var errBroken = errors.New("its structure is broken")

// step reads and converts one record. The libraries panic on damaged files.
func (c *conversion) step() (r arrow.Record, err error) {
	defer func() {
		if e := recover(); e != nil {
			r, err = nil, errBroken
		}
	}()
	in, err := c.source.next()
	if err != nil {
		return nil, err
	}
	r = c.converter.record(in, c.row, c.problems)
	c.row += in.NumRows()
	return r, nil
}
