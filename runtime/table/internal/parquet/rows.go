package parquet

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// Bounds of a batch, whatever a file says: a few bytes can stand for many long texts,
// and for many columns.
const (
	maxText  = 32 << 20 // bytes of text, or one row
	leastFor = 1 << 20  // bytes that the texts of a column may keep, however many columns there are
	maxCells = 4 << 20
)

// Rows reads batches of equal length whatever the row groups are, shorter ones where
// texts are long, and holds one batch and one page of each column. It counts: a row
// group whose columns do not hold the rows that the footer promises is an error.
type Rows struct {
	*File
	columns []*column
	texts   []*texts // of the columns
	schema  *arrow.Schema
	batch   int64
	codecs  map[compress.Compression]codec
	group   int // the next one
}

// column is one column that is read. Where texts are long, some columns are ahead of
// others.
type column struct {
	leaf  int
	cells cells
	pages *pages
	left  int64 // rows of the current group
}

// Rows reads the columns of these fields, in batches of at most the given number of rows.
func (f *File) Rows(fields []int, batch int64) *Rows {
	n := int64(max(1, len(fields)))
	s := &Rows{File: f, batch: max(1, min(batch, maxCells/n)), codecs: map[compress.Compression]codec{}}
	var read []arrow.Field
	for _, i := range fields {
		field, c := f.Schema.Field(i), &column{leaf: f.leaves[i]}
		c.cells, field.Type = newCells(field.Type, f.physical(c.leaf), max(leastFor, maxText/n))
		if t, ok := c.cells.(*texts); ok {
			s.texts = append(s.texts, t)
		}
		s.columns, read = append(s.columns, c), append(read, field)
	}
	s.schema = arrow.NewSchema(read, nil)
	return s
}

// Next fills a batch from as many row groups as that takes.
func (s *Rows) Next() (arrow.Record, error) {
	for {
		rows, ended, err := s.fill()
		if err != nil {
			return nil, err
		}
		if rows == s.batch || !ended {
			return s.record(s.light(rows))
		}
		if err := s.advance(); err == io.EOF && rows > 0 {
			return s.record(s.light(rows))
		} else if err != nil {
			return nil, err
		}
	}
}

// fill reads on in the current row group; rows are those that all columns have, ended
// says that the group has no more.
func (s *Rows) fill() (rows int64, ended bool, err error) {
	rows, ended = s.batch, true
	for _, c := range s.columns {
		n, err := c.cells.read(c.pages, min(rows-c.cells.have(), c.left))
		if err != nil {
			return 0, false, err
		}
		c.left -= n
		rows, ended = min(rows, c.cells.have()), ended && c.left == 0
	}
	return rows, ended, nil
}

// light returns how many of the next rows hold no more text than a batch may, at least one.
func (s *Rows) light(rows int64) int64 {
	size := int64(0)
	for i := range rows {
		for _, t := range s.texts {
			size += t.size(i)
		}
		if size > maxText && i > 0 {
			return i
		}
	}
	return rows
}

func (s *Rows) record(rows int64) (arrow.Record, error) {
	arrays := make([]arrow.Array, len(s.columns))
	for i, c := range s.columns {
		var err error
		if arrays[i], err = c.cells.finish(rows); err != nil {
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
	for ; s.group < len(s.meta.RowGroups); s.group++ {
		if group := s.meta.RowGroup(s.group); group.NumRows() > 0 {
			s.group++
			return s.enter(group)
		}
	}
	return io.EOF
}

// enter begins to read a row group.
func (s *Rows) enter(group *metadata.RowGroupMetaData) error {
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
		c.left, c.pages = group.NumRows(), newPages(io.NewSectionReader(s.at, begins(chunk), size), size, unpack, column)
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
