package table

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline"
)

type seekable interface {
	io.ReaderAt
	io.ReadSeeker
}

// parquetFile is an opened file and the layout of its columns.
type parquetFile struct {
	raw    fs.File
	reader *pqarrow.FileReader
	schema *arrow.Schema
	layout layout
}

// openParquet checks the schema; rows are read when the function is called.
func openParquet(fsys FS, name string, d *dialect, dom *pipeline.Domain, o options) (func(context.Context) pipeline.Batches, error) {
	f, err := parquetOf(fsys, name, d, dom, o)
	if err != nil {
		return nil, err
	}
	f.raw.Close()
	return func(ctx context.Context) pipeline.Batches {
		return convertAll(ctx, name, dom, d, func(ctx context.Context) (recordSource, error) {
			return newParquetSource(ctx, fsys, name, d, dom, o)
		})
	}, nil
}

// parquetOf opens a file and matches its columns to those of a domain.
func parquetOf(fsys FS, name string, d *dialect, dom *pipeline.Domain, o options) (*parquetFile, error) {
	f, err := parquetFor(fsys, name, o)
	if err != nil {
		return nil, err
	}
	if f.layout, err = matchSchema(name, f.schema, d, dom); err != nil {
		f.raw.Close()
		return nil, err
	}
	return f, nil
}

func parquetFor(fsys FS, name string, o options) (f *parquetFile, err error) {
	raw, err := fsys.Open(name)
	if err != nil {
		return nil, wrong(name, "%v", plain(err))
	}
	defer func() {
		if e := recover(); e != nil {
			f, err = nil, wrong(name, "is a damaged Parquet file")
		}
		if err != nil {
			raw.Close()
		}
	}()
	at, ok := raw.(seekable)
	if !ok {
		return nil, wrong(name, "is Parquet in a place that cannot be read at any position; accepted: a plain file")
	}
	f = &parquetFile{raw: raw}
	r, err := file.NewParquetReader(at)
	if err != nil {
		return nil, wrong(name, "is not a whole Parquet file (gzip around it is not read): %v", err)
	}
	if size, err := at.Seek(0, io.SeekEnd); err != nil || !sound(r, size) {
		return nil, wrong(name, "is a damaged Parquet file: its index points outside of it")
	}
	if err := f.open(r, o); err != nil {
		return nil, wrong(name, "has a Parquet schema that is not read: %v", err)
	}
	return f, nil
}

// sound reports whether every column chunk lies inside the file. The library
// trusts the index, and panics in a goroutine of its own where it is wrong.
func sound(r *file.Reader, size int64) bool {
	for g := range r.NumRowGroups() {
		group := r.MetaData().RowGroup(g)
		if group.NumRows() < 0 || group.NumColumns() != r.MetaData().Schema.NumColumns() {
			return false
		}
		for i := range group.NumColumns() {
			chunk, err := group.ColumnChunk(i)
			if err != nil {
				return false
			}
			from := chunk.DataPageOffset()
			if d := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && d > 0 && d < from {
				from = d
			}
			if n := chunk.TotalCompressedSize(); from < 4 || n < 0 || n > size || from > size-n || chunk.NumValues() < 0 {
				return false
			}
		}
	}
	return true
}

// open asks for dictionaries where text is stored as such: a category is then
// looked up by number, not by spelling.
func (f *parquetFile) open(r *file.Reader, o options) (err error) {
	props := pqarrow.ArrowReadProperties{BatchSize: int64(o.BatchRows)}
	for i := range r.MetaData().Schema.NumColumns() {
		if r.MetaData().Schema.Column(i).PhysicalType() == parquet.Types.ByteArray {
			props.SetReadDict(i, true)
		}
	}
	if f.reader, err = pqarrow.NewFileReader(r, props, memory.DefaultAllocator); err != nil {
		return err
	}
	f.schema, err = f.reader.Schema()
	if err == nil && f.schema.NumFields() != r.MetaData().Schema.NumColumns() {
		return fmt.Errorf("it has nested columns")
	}
	return err
}

// matchSchema matches names and types at once.
func matchSchema(name string, s *arrow.Schema, d *dialect, dom *pipeline.Domain) (layout, error) {
	p := &problems{file: name, unit: "row"}
	names := make([]string, s.NumFields())
	for i := range names {
		names[i] = s.Field(i).Name
	}
	l := byName(names, dom, p, 0, d.ignoreExtra)
	checkTypes(s, l, dom, p)
	return l, p.err(false)
}

type parquetSource struct {
	*parquetFile
	records pqarrow.RecordReader
}

func newParquetSource(ctx context.Context, fsys FS, name string, d *dialect, dom *pipeline.Domain, o options) (*parquetSource, error) {
	f, err := parquetOf(fsys, name, d, dom, o)
	if err != nil {
		return nil, err
	}
	var keep []int
	var l layout
	for i, at := range f.layout {
		if at >= 0 {
			keep, l = append(keep, i), append(l, at)
		}
	}
	f.layout = l
	records, err := f.reader.GetRecordReader(ctx, keep, nil)
	if err != nil {
		f.raw.Close()
		return nil, wrong(name, "is a damaged Parquet file: %v", err)
	}
	return &parquetSource{f, records}, nil
}

func (s *parquetSource) columns() layout { return s.layout }

func (s *parquetSource) next() (arrow.Record, error) {
	if !s.records.Next() {
		if err := s.records.Err(); err != nil && err != io.EOF {
			return nil, err
		}
		return nil, io.EOF
	}
	return s.records.Record(), nil
}

func (s *parquetSource) close() {
	s.records.Release()
	s.raw.Close()
}
