// Package parquet reads Parquet files whose columns are not nested into Arrow records, and writes such files
// (write.go). Package table joins both to tables (parquet.go, writeparquet.go). It reads in the goroutine of the
// reader and in memory that the bytes of the file bound: every size is judged before room is made for it, and rows are
// counted against the footer. The library keeps the index and the schema; docs/design/io.md says why no more.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
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
func Open(r io.ReaderAt, size int64) (*File, error) {
	meta, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{at: r, size: size, meta: meta}
	return f, f.open()
}

// NumRows returns what the footer says.
func (f *File) NumRows() int64 { return f.meta.NumRows }

// Stated returns what a key of the footer says, "" where it is not there. Writers state there what Parquet has no type
// for.
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
	first, n := begins(chunk), chunk.TotalCompressedSize()
	if group.NumRows() == 0 {
		return nil // it may have no pages, and no place for them
	}
	if first < 4 || n < 0 || n > f.size || first > f.size-n || chunk.Type() != column.PhysicalType() {
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

// begins returns where the pages of a chunk begin.
func begins(chunk *metadata.ColumnChunkMetaData) int64 {
	first := chunk.DataPageOffset()
	if d := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && d > 0 && d < first {
		return d
	}
	return first
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

// ErrEncrypted names a file that only its owner's keys can open.
var ErrEncrypted = errors.New("is encrypted Parquet, which is not read; accepted: Parquet that is not encrypted")

// readFooter reads the index of a file of size bytes. The library makes room for
// whatever an index claims to hold, so its form is checked first.
func readFooter(r io.ReaderAt, size int64) (*metadata.FileMetaData, error) {
	var end [8]byte
	if size < 12 {
		return nil, errors.New("is not a whole Parquet file")
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return nil, UnreadableError{err}
	}
	switch string(end[4:]) {
	case "PARE":
		return nil, ErrEncrypted
	case "PAR1":
	default:
		return nil, errors.New("is not a whole Parquet file (gzip around it is not read): it ends without its index")
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-12 {
		return nil, errors.New("is a damaged Parquet file: its index is larger than the file")
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-8-n); err != nil {
		return nil, UnreadableError{err}
	}
	if err := soundFooter(b); err != nil {
		return nil, err
	}
	meta, err := metadata.NewFileMetaData(b, nil)
	if err != nil {
		return nil, errors.New("is a damaged Parquet file: its index cannot be read")
	}
	return meta, nil
}

// soundFooter walks through an index without making anything of it.
func soundFooter(b []byte) error {
	t, deep, locked := &thrift{buf: b}, false, false
	t.each(0, func(id int64, kind byte) bool {
		if id == 8 { // the algorithm of encryption, where the index itself is plain
			locked = true
		}
		if id != 2 || kind != thriftList {
			return false
		}
		deep = t.deep()
		return true
	})
	switch {
	case t.bad:
		return errors.New("is a damaged Parquet file: its index cannot be read")
	case deep:
		return fmt.Errorf("is a Parquet file whose columns lie more than %d deep in each other", maxNesting)
	case locked:
		return ErrEncrypted
	}
	return nil
}

// deep reads the schema, a list of nodes that each say how many of those behind
// them are theirs, and reports whether they nest deeper than a call may go.
func (t *thrift) deep() bool {
	e := t.elements(thriftList)
	open := []int64{1} // nodes still to come, by level
	for range t.count(e.n) {
		children := int64(0)
		t.each(1, func(id int64, kind byte) bool {
			if id != 5 || kind <= thriftByte || kind >= thriftDouble {
				return false
			}
			children = t.int()
			return true
		})
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) == 0 || t.bad {
			return false // the library refuses nodes that belong to none
		}
		if open[len(open)-1]--; children > 0 {
			open = append(open, children)
		}
		if len(open) > maxNesting {
			return true
		}
	}
	return false
}
