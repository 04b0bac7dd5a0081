// Package encoded reads encoded tables for every family of models, and says
// what a net needs to know of them.
package encoded

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/train"
)

// Columns holds an encoded table compactly: one float or code a cell.
type Columns struct {
	domain *pipeline.Domain
	floats [][]float32
	codes  [][]int32
	shards []int32 // nil unless the table is sharded
	n      int
}

// Read reads an encoded table whole; memory is 4 bytes a cell.
func Read(ctx context.Context, t pipeline.Table) (*Columns, error) {
	d := t.Domain
	e := &Columns{domain: d, floats: make([][]float32, len(d.Columns)), codes: make([][]int32, len(d.Columns))}
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

func (e *Columns) append(rec arrow.Record) error {
	for i, c := range e.domain.Columns {
		column := rec.Column(i)
		if column.NullN() > 0 {
			return fmt.Errorf("column %s holds missing values after encoding, must hold none", c.Name)
		}
		switch column := column.(type) {
		case *array.Int32:
			e.codes[i] = append(e.codes[i], column.Int32Values()...)
		case *array.Float32:
			e.floats[i] = append(e.floats[i], column.Float32Values()...)
		default:
			return fmt.Errorf("column %s is of Arrow type %s, must be float32 or int32 after encoding", c.Name, column.DataType())
		}
	}
	if at := rec.Schema().FieldIndices(pipeline.ShardColumn); len(at) > 0 {
		e.shards = append(e.shards, rec.Column(at[0]).(*array.Int32).Int32Values()...)
	}
	e.n += int(rec.NumRows())
	return nil
}

// Rows is the whole table as the training core takes it.
func (e *Columns) Rows() (*train.Rows, error) {
	r := train.NewRows(e.n)
	for i, c := range e.domain.Columns {
		var err error
		if c.Encoding.Form == pipeline.OneHot {
			err = appendCodes(r, e.codes[i], c.Encoding.Width)
		} else {
			err = r.Numeric(e.floats[i])
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return r, nil
}

// appendCodes stores codes in the fewest bytes.
func appendCodes(r *train.Rows, codes []int32, width int) error {
	switch {
	case width <= 1<<8:
		return train.Categorical(r, narrow[uint8](codes), width)
	case width <= 1<<16:
		return train.Categorical(r, narrow[uint16](codes), width)
	}
	return train.Categorical(r, codes, width)
}

func narrow[C uint8 | uint16](codes []int32) []C {
	list := make([]C, len(codes))
	for i, c := range codes {
		list[i] = C(c)
	}
	return list
}

// ByShard lists the rows of each of k shards.
func (e *Columns) ByShard(k int) ([][]int32, error) {
	if len(e.shards) != e.n {
		return nil, fmt.Errorf("the table has no column %s, must come from a stage of kind shard", pipeline.ShardColumn)
	}
	shards := make([][]int32, k)
	for row, s := range e.shards {
		if s < 0 || int(s) >= k {
			return nil, fmt.Errorf("column %s holds a number outside 0 to %d", pipeline.ShardColumn, k-1)
		}
		shards[s] = append(shards[s], int32(row))
	}
	return shards, nil
}
