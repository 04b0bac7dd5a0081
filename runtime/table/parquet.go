package table

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline"
)

type seekable interface {
	io.ReaderAt
	io.ReadSeeker
}

// parquetFile is an opened file, its index, and the layout of its columns.
type parquetFile struct {
	raw    fs.File
	at     io.ReaderAt
	size   int64
	meta   *metadata.FileMetaData
	schema *arrow.Schema
	leaves []int // by field of the schema: its column among those stored; -1 of a nested one
	layout layout
	batch  int64
}

// openParquet checks the schema; rows are read when the function is called.
func openParquet(fsys FS, name string, d *dialect, dom *pipeline.Domain, o options) (func(context.Context) pipeline.Batches, error) {
	f, err := parquetOf(fsys, name, d, dom, o)
	if err != nil {
		return nil, err
	}
	f.raw.Close()
	return func(ctx context.Context) pipeline.Batches {
		return convertAll(ctx, name, dom, d, func(context.Context) (recordSource, error) {
			f, err := parquetOf(fsys, name, d, dom, o)
			if err != nil {
				return nil, err
			}
			return newParquetSource(f), nil
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
	size, err := at.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, readError(name, err)
	}
	f = &parquetFile{raw: raw, at: at, size: size, batch: int64(o.BatchRows)}
	if f.meta, err = readFooter(at, size); err == nil {
		err = f.open()
	}
	var disk unreadable
	if errors.As(err, &disk) {
		return nil, readError(name, disk.error)
	}
	if err != nil {
		return nil, wrong(name, "%v", err)
	}
	return f, nil
}

// open turns the schema into one of Arrow and checks the index against the file.
func (f *parquetFile) open() (err error) {
	if f.schema, err = pqarrow.FromParquet(f.meta.Schema, nil, nil); err != nil {
		return errTypes
	}
	root := f.meta.Schema.Root()
	f.leaves = make([]int, root.NumFields())
	for i := range f.leaves {
		f.leaves[i] = -1
	}
	for c := range f.meta.Schema.NumColumns() {
		column := f.meta.Schema.Column(c)
		at := root.FieldIndexByField(column.SchemaNode())
		if at >= 0 && column.MaxRepetitionLevel() == 0 && column.MaxDefinitionLevel() <= 1 {
			f.leaves[at] = c
		}
	}
	return f.sound()
}

// sound checks that the index agrees with itself and lies within the file.
func (f *parquetFile) sound() error {
	rows := int64(0)
	for g := range f.meta.RowGroups {
		group := f.meta.RowGroup(g)
		if group.NumRows() < 0 || group.NumColumns() != f.meta.Schema.NumColumns() {
			return errIndex
		}
		rows += group.NumRows()
		for c := range group.NumColumns() {
			if err := f.soundChunk(group, c); err != nil {
				return err
			}
		}
	}
	if rows != f.meta.NumRows {
		return errors.New("is a damaged Parquet file: its row groups do not add up to the rows that it says it has")
	}
	return nil
}

var errIndex = errors.New("is a damaged Parquet file: its index points outside of it or contradicts itself")

func (f *parquetFile) soundChunk(group *metadata.RowGroupMetaData, c int) error {
	chunk, err := group.ColumnChunk(c)
	if err != nil {
		return errIndex
	}
	column := f.meta.Schema.Column(c)
	from, n := begins(chunk), chunk.TotalCompressedSize()
	if group.NumRows() == 0 {
		return nil // it may have no pages, and no place for them
	}
	if from < 4 || n < 0 || n > f.size || from > f.size-n || chunk.Type() != column.PhysicalType() {
		return errIndex
	}
	if column.MaxRepetitionLevel() == 0 && chunk.NumValues() != group.NumRows() {
		return errIndex
	}
	if chunk.FilePath() != "" {
		return errors.New("is Parquet whose columns lie in other files, which is not read")
	}
	return readableChunk(chunk)
}

// readableChunk names at once, before anything is charged, what is not read.
func readableChunk(chunk *metadata.ColumnChunkMetaData) error {
	for _, e := range chunk.Encodings() {
		if e < 0 || e > byteStreamSplit {
			return notRead(e)
		}
	}
	if known := chunk.Compression(); known != compress.Codecs.Zstd { // whose decoder is costly
		_, err := codecOf(known)
		return err
	}
	return nil
}

// begins is where the pages of a chunk begin.
func begins(chunk *metadata.ColumnChunkMetaData) int64 {
	from := chunk.DataPageOffset()
	if d := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && d > 0 && d < from {
		return d
	}
	return from
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

// readable refuses what cannot be spelled as a table.
func (f *parquetFile) readable() error {
	for i, leaf := range f.leaves {
		if c, _ := newCells(f.schema.Field(i).Type); leaf < 0 || c == nil {
			return errTypes
		}
	}
	return nil
}

var errTypes = errors.New("is Parquet with columns that are not read (nested ones, or times, decimals and bytes); accepted: columns of booleans, integers, floats, dates and texts")
