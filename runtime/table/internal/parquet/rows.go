package parquet

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet/compress"
)

// Rows reads batches of equal length whatever the row groups are, and
// holds one batch and one page of each column. It counts: a row group whose
// columns do not hold the rows that the footer promises is an error.
type Rows struct {
	*File
	columns []*column
	schema  *arrow.Schema
	batch   int64
	codecs  map[compress.Compression]codec
	group   int   // the next one
	left    int64 // rows of the current one
}

// column is one column that is read.
type column struct {
	leaf  int
	cells cells
	pages *pages
}

// Rows reads the columns of these fields, in batches of at most so many rows.
func (f *File) Rows(fields []int, batch int64) *Rows {
	s := &Rows{File: f, batch: batch, codecs: map[compress.Compression]codec{}}
	var read []arrow.Field
	for _, i := range fields {
		field, c := f.Schema.Field(i), &column{leaf: f.leaves[i]}
		c.cells, field.Type = newCells(field.Type)
		s.columns, read = append(s.columns, c), append(read, field)
	}
	s.schema = arrow.NewSchema(read, nil)
	return s
}

// Next fills a batch from as many row groups as that takes.
func (s *Rows) Next() (arrow.Record, error) {
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
		for _, c := range s.columns {
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

func (s *Rows) record(rows int64) (arrow.Record, error) {
	arrays := make([]arrow.Array, len(s.columns))
	for i, c := range s.columns {
		var err error
		if arrays[i], err = c.cells.finish(); err != nil {
			return nil, err
		}
	}
	return array.NewRecord(s.schema, arrays, rows), nil
}

// advance goes to the next row group that has rows, once the current one is read
// to its end.
func (s *Rows) advance() error {
	for _, c := range s.columns {
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
func (s *Rows) enter() error {
	group := s.meta.RowGroup(s.group)
	s.group++
	if s.left = group.NumRows(); s.left == 0 {
		return nil
	}
	for _, c := range s.columns {
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

func (s *Rows) codec(c compress.Compression) (codec, error) {
	if known, ok := s.codecs[c]; ok {
		return known, nil
	}
	made, err := codecOf(c)
	s.codecs[c] = made
	return made, err
}
