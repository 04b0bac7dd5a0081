package table

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet/compress"
)

// parquetSource reads batches of equal length whatever the row groups are, and
// holds one batch and one page of each column. It counts: a row group whose
// columns do not hold the rows that the footer promises is an error.
type parquetSource struct {
	*parquetFile
	columnsRead []*parquetColumn
	schemaRead  *arrow.Schema
	codecs      map[compress.Compression]codec
	group       int   // the next one
	left        int64 // rows of the current one
}

// parquetColumn is one column that is read.
type parquetColumn struct {
	leaf  int
	cells cells
	pages *pages
}

// newParquetSource reads the columns of the layout; all of them where there is none.
func newParquetSource(f *parquetFile) *parquetSource {
	s := &parquetSource{parquetFile: f, codecs: map[compress.Compression]codec{}}
	var fields []arrow.Field
	var l layout
	for i, leaf := range f.leaves {
		if f.layout != nil && f.layout[i] < 0 {
			continue
		}
		field := f.schema.Field(i)
		c := &parquetColumn{leaf: leaf}
		c.cells, field.Type = newCells(field.Type)
		s.columnsRead, fields = append(s.columnsRead, c), append(fields, field)
		if f.layout != nil {
			l = append(l, f.layout[i])
		}
	}
	s.layout, s.schemaRead = l, arrow.NewSchema(fields, nil)
	return s
}

func (s *parquetSource) columns() layout { return s.layout }
func (s *parquetSource) close()          { s.raw.Close() }

// next fills a batch from as many row groups as that takes.
func (s *parquetSource) next() (arrow.Record, error) {
	rows := int64(0)
	for rows < s.batch {
		if s.left == 0 {
			if err := s.advance(); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
		}
		n := min(s.batch-rows, s.left)
		for _, c := range s.columnsRead {
			if err := c.cells.read(c.pages, n); err != nil {
				return nil, err
			}
		}
		rows, s.left = rows+n, s.left-n
	}
	if rows == 0 {
		return nil, io.EOF
	}
	return s.record(rows)
}

func (s *parquetSource) record(rows int64) (arrow.Record, error) {
	arrays := make([]arrow.Array, len(s.columnsRead))
	for i, c := range s.columnsRead {
		var err error
		if arrays[i], err = c.cells.finish(); err != nil {
			return nil, err
		}
	}
	return array.NewRecord(s.schemaRead, arrays, rows), nil
}

// advance goes to the next row group that has rows, once the current one is read
// to its end.
func (s *parquetSource) advance() error {
	for _, c := range s.columnsRead {
		if c.pages == nil {
			continue
		}
		if err := c.pages.advance(); err == nil {
			return errLarger
		} else if err != io.EOF {
			return err
		}
	}
	for s.left == 0 {
		if s.group == len(s.meta.RowGroups) {
			return io.EOF
		}
		if err := s.enter(); err != nil {
			return err
		}
	}
	return nil
}

// enter begins to read a row group.
func (s *parquetSource) enter() error {
	group := s.meta.RowGroup(s.group)
	s.group++
	if s.left = group.NumRows(); s.left == 0 {
		return nil
	}
	for _, c := range s.columnsRead {
		chunk, err := group.ColumnChunk(c.leaf)
		if err != nil {
			return err
		}
		unpack, err := s.codec(chunk.Compression())
		if err != nil {
			return err
		}
		column := s.meta.Schema.Column(c.leaf)
		size := chunk.TotalCompressedSize()
		c.pages = newPages(io.NewSectionReader(s.at, begins(chunk), size), size, unpack, column)
	}
	return nil
}

// errLarger is a chunk with more cells than the footer says.
var errLarger = errors.New("a row group has more rows than the footer says")

func (s *parquetSource) codec(c compress.Compression) (codec, error) {
	if known, ok := s.codecs[c]; ok {
		return known, nil
	}
	made, err := codecOf(c)
	s.codecs[c] = made
	return made, err
}
