// Package parquet reads Parquet files whose columns are not nested into Arrow records, in
// the goroutine of the reader and in memory that the bytes of the file bound: every size
// is judged before room is made for it, and rows are counted against the footer. The
// library keeps the index and the schema; docs/design/io.md says why no more.
package parquet

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// File is the index of a file.
type File struct {
	Schema *arrow.Schema // one field a column, nested ones too
	at     io.ReaderAt
	size   int64
	meta   *metadata.FileMetaData
	leaves []int // by field of the schema: its column among those stored; -1 of a nested one
}

// Open reads the index of a file of size bytes and checks it against the file.
// An UnreadableError is the disk's, any other says what the file is. The library may
// panic on a damaged schema.
func Open(at io.ReaderAt, size int64) (*File, error) {
	meta, err := readFooter(at, size)
	if err != nil {
		return nil, err
	}
	f := &File{at: at, size: size, meta: meta}
	return f, f.open()
}

// NumRows is what the footer says.
func (f *File) NumRows() int64 { return f.meta.NumRows }

// Stated returns what a key of the footer says, "" where it is not there. Writers state there what Parquet has no type for.
func (f *File) Stated(key string) string {
	if v := f.meta.KeyValueMetadata().FindValue(key); v != nil {
		return *v
	}
	return ""
}

// open turns the schema into one of Arrow and checks the index against the file.
func (f *File) open() (err error) {
	if f.Schema, err = arrowSchema(f.meta.Schema.Root()); err != nil {
		return err
	}
	root := f.meta.Schema.Root()
	if root.NumFields() == 0 {
		return errors.New("is Parquet without columns")
	}
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
func (f *File) sound() error {
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

func (f *File) soundChunk(group *metadata.RowGroupMetaData, c int) error {
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

// Reads reports whether the cells of a field can be read: it is not nested, and of a type that a table has.
func (f *File) Reads(field int) bool {
	if f.leaves[field] < 0 {
		return false
	}
	c, _ := newCells(f.Schema.Field(field).Type, f.physical(f.leaves[field]), 0)
	return c != nil
}

// physical returns how the values of a stored column are stored.
func (f *File) physical(leaf int) physical { return physicalOf(f.meta.Schema.Column(leaf)) }
