package table

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table/internal/parquet"
)

type seekable interface {
	io.ReaderAt
	io.ReadSeeker
}

// parquetSource is an opened file whose rows are read.
type parquetSource struct {
	*parquet.File
	raw    fs.File
	rows   *parquet.Rows
	layout layout
}

func (s *parquetSource) columns() layout             { return s.layout }
func (s *parquetSource) close()                      { s.raw.Close() }
func (s *parquetSource) next() (arrow.Record, error) { return s.rows.Next() }

// openParquet checks the schema; rows are read when the function is called.
func openParquet(fsys FS, name string, d *dialect, dom *domain.Domain, o options) (func(context.Context) pipeline.Batches, error) {
	s, err := parquetOf(fsys, name, d, dom, o)
	if err != nil {
		return nil, err
	}
	s.close()
	return func(ctx context.Context) pipeline.Batches {
		return convertAll(ctx, name, dom, d, func(context.Context) (recordSource, error) {
			return parquetOf(fsys, name, d, dom, o)
		})
	}, nil
}

// parquetOf opens a file to read the columns of a domain.
func parquetOf(fsys FS, name string, d *dialect, dom *domain.Domain, o options) (*parquetSource, error) {
	s, err := parquetFor(fsys, name)
	if err != nil {
		return nil, err
	}
	l, err := matchSchema(name, s.Schema, d, dom)
	if err != nil {
		s.close()
		return nil, err
	}
	var fields []int
	for i, at := range l {
		if at >= 0 {
			fields, s.layout = append(fields, i), append(s.layout, at)
		}
	}
	s.rows = s.Rows(fields, int64(o.BatchRows))
	return s, nil
}

// allOfParquet opens a file to read all its columns.
func allOfParquet(fsys FS, name string, o options) (*parquetSource, error) {
	s, err := parquetFor(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := s.Readable(); err != nil {
		s.close()
		return nil, wrong(name, "%v", err)
	}
	fields := make([]int, s.Schema.NumFields())
	for i := range fields {
		fields[i] = i
	}
	s.rows = s.Rows(fields, int64(o.BatchRows))
	return s, nil
}

func parquetFor(fsys FS, name string) (s *parquetSource, err error) {
	raw, err := fsys.Open(name)
	if err != nil {
		return nil, wrong(name, "%v", plain(err))
	}
	defer func() {
		if e := recover(); e != nil {
			s, err = nil, wrong(name, "is a damaged Parquet file")
		}
		if err != nil {
			raw.Close()
		}
	}()
	at, ok := raw.(seekable)
	if !ok {
		return nil, wrong(name, "is Parquet in a place that cannot be read at any position; accepted: a plain file")
	}
	size, err := at.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, readError(name, err)
	}
	f, err := parquet.Open(at, size)
	var disk parquet.UnreadableError
	if errors.As(err, &disk) {
		return nil, readError(name, disk.Err)
	}
	if err != nil {
		return nil, wrong(name, "%v", err)
	}
	return &parquetSource{File: f, raw: raw}, nil
}

// matchSchema matches names and types at once.
func matchSchema(name string, s *arrow.Schema, d *dialect, dom *domain.Domain) (layout, error) {
	p := &problems{file: name, unit: "row"}
	names := make([]string, s.NumFields())
	for i := range names {
		names[i] = s.Field(i).Name
	}
	l := byName(names, dom, p, 0, d.ignoreExtra)
	checkTypes(s, l, dom, p)
	return l, p.err(false)
}
