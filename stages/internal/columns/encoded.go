package columns

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/train"
)

// Encoded holds an encoded table compactly: 4 bytes a number, and for each code the
// fewest that hold it.
type Encoded struct {
	domain  *domain.Domain
	columns []column
	shards  []int32 // nil unless the table is sharded
	n       int
}

// column is what one column of the table is gathered in.
type column interface {
	append(arrow.Array) error
	give(*train.Rows) error
	codes() ([]int32, error)
}

// ReadEncoded reads an encoded table whole, in one pass: what a model learns from. It
// holds no missing values, where a Frame may.
func ReadEncoded(ctx context.Context, t pipeline.Table) (*Encoded, error) {
	e := &Encoded{domain: t.Domain, columns: columnsOf(t.Domain.Columns, t.Header.Rows)}
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		if err := e.append(rec); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// mostAhead bounds what is made room for before a row is seen: a row count is a
// word of the spec.
const mostAhead = 1 << 24

// columnsOf has room for a number of rows. Runs of many numbers stand row by row.
func columnsOf(col []domain.Column, rows int64) (out []column) {
	for len(col) > 0 {
		run := 0
		for run < len(col) && col[run].Encoding.Form != domain.OneHot {
			run++
		}
		if run < leastBlock {
			run = max(run, 1)
			for _, c := range col[:run] {
				out = append(out, columnOf(c.Encoding, int(min(rows, mostAhead))))
			}
		} else {
			b := &numberBlock{width: run, values: make([]float32, 0, run*int(min(rows, mostAhead/int64(run))))}
			for at := range run {
				out = append(out, &blockColumn{b, at})
			}
		}
		col = col[run:]
	}
	return out
}

// columnOf has room for a number of rows.
func columnOf(e *domain.Encoding, rows int) column {
	switch {
	case e.Form != domain.OneHot:
		return &numbers{make([]float32, 0, rows)}
	case e.Width <= 1<<8:
		return &codes[uint8]{e.Width, make([]uint8, 0, rows)}
	case e.Width <= 1<<16:
		return &codes[uint16]{e.Width, make([]uint16, 0, rows)}
	}
	return &codes[int32]{e.Width, make([]int32, 0, rows)}
}

func (e *Encoded) append(rec arrow.Record) error {
	for i, c := range e.columns {
		err := errors.New("holds missing values after encoding, must hold none")
		if rec.Column(i).NullN() == 0 {
			err = c.append(rec.Column(i))
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", e.domain.Columns[i].Name, err)
		}
	}
	if at := rec.Schema().FieldIndices(pipeline.ShardColumn); len(at) > 0 {
		e.shards = append(e.shards, rec.Column(at[0]).(*array.Int32).Int32Values()...)
	}
	e.n += int(rec.NumRows())
	return nil
}

// Rows returns the whole table as the training core takes it.
func (e *Encoded) Rows() (*train.Rows, error) { return e.RowsWithout(-1) }

// RowsWithout returns Rows with zeros for the column of that place: of a label that the nets of
// each label are not to learn.
func (e *Encoded) RowsWithout(column int) (*train.Rows, error) {
	r := train.NewRows(e.n)
	for i, c := range e.columns {
		if i == column {
			r.Zeros(e.domain.Columns[i].Encoding.Width)
			continue
		}
		if err := c.give(r); err != nil {
			return nil, fmt.Errorf("column %s: %w", e.domain.Columns[i].Name, err)
		}
	}
	return r, nil
}

type numbers struct{ values []float32 }

func (c *numbers) append(a arrow.Array) error {
	from, err := floats(a)
	c.values = append(c.values, from...)
	return err
}

func floats(a arrow.Array) ([]float32, error) {
	source, ok := a.(*array.Float32)
	if !ok {
		return nil, fmt.Errorf("is of Arrow type %s after encoding, must be float32", a.DataType())
	}
	return source.Float32Values(), nil
}

func (c *numbers) codes() ([]int32, error) { return nil, errNoCodes }

func (c *numbers) give(r *train.Rows) error { return r.Numeric(c.values) }

type codes[C uint8 | uint16 | int32] struct {
	width  int
	values []C
}

// append refuses a code outside: narrowed, it would be another one.
func (c *codes[C]) append(a arrow.Array) error {
	source, ok := a.(*array.Int32)
	if !ok {
		return fmt.Errorf("is of Arrow type %s after encoding, must be int32", a.DataType())
	}
	for _, v := range source.Int32Values() {
		if uint32(v) >= uint32(c.width) {
			return fmt.Errorf("holds a code outside 0 to %d", c.width-1)
		}
		c.values = append(c.values, C(v))
	}
	return nil
}

func (c *codes[C]) codes() ([]int32, error) {
	out := make([]int32, len(c.values))
	for i, v := range c.values {
		out[i] = int32(v)
	}
	return out, nil
}

func (c *codes[C]) give(r *train.Rows) error { return train.Categorical(r, c.values, c.width) }

// Codes returns the categories of a one-hot column, by its place.
func (e *Encoded) Codes(column int) ([]int32, error) {
	codes, err := e.columns[column].codes()
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", e.domain.Columns[column].Name, err)
	}
	return codes, nil
}

// ByShard lists the rows of each of k shards.
func (e *Encoded) ByShard(k int) ([][]int32, error) {
	if len(e.shards) != e.n {
		return nil, fmt.Errorf("the table has no column %s, must come from a stage of kind shard", pipeline.ShardColumn)
	}
	shards := make([][]int32, k)
	for row, s := range e.shards {
		if s < 0 || int(s) >= k {
			return nil, fmt.Errorf("column %s: holds a number outside 0 to %d", pipeline.ShardColumn, k-1)
		}
		shards[s] = append(shards[s], int32(row))
	}
	return shards, nil
}

// leastBlock is from how many columns of numbers in a row on they stand row by row: a
// batch then takes whole lines of the cache from memory, not one for each number.
const leastBlock = 32

// numberBlock is columns of numbers, row by row.
type numberBlock struct {
	width  int
	values []float32
}

// blockColumn is one column of a block.
type blockColumn struct {
	*numberBlock
	at int
}

// append takes the columns of a record in their order: the first makes room.
func (c *blockColumn) append(a arrow.Array) error {
	src, err := floats(a)
	if err != nil {
		return err
	}
	if c.at == 0 {
		c.values = append(c.values, make([]float32, len(src)*c.width)...)
	}
	to := c.values[len(c.values)-len(src)*c.width:]
	for i, v := range src {
		to[i*c.width+c.at] = v
	}
	return nil
}

func (c *blockColumn) codes() ([]int32, error) { return nil, errNoCodes }

// give gives the whole block at its first column.
func (c *blockColumn) give(r *train.Rows) error {
	if c.at > 0 {
		return nil
	}
	return r.NumericBlock(c.values, c.width)
}

var errNoCodes = errors.New("holds numbers, must hold codes")
