package prep

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/stages/prep/knn"
)

// run holds the table in memory: about 8 bytes a cell, and as much again for the
// index.
func (p imputing) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	whole, err := in["in"].Collect(ctx)
	if err != nil {
		return nil, err
	}
	data, err := p.matrix(whole, p.places)
	if err != nil {
		return nil, err
	}
	cells, err := p.fill(ctx, env, in, whole, data)
	if err != nil {
		return nil, err
	}
	return pipeline.Tables{"out": pipeline.FromRecords(p.out, p.write(whole, data, cells))}, nil
}

func (p imputing) fill(ctx context.Context, env *pipeline.Env, in pipeline.Tables, whole arrow.Record, data knn.Columns) ([]knn.Cell, error) {
	switch p.scope {
	case "reference":
		donors, err := p.reference(ctx, in["reference"])
		if err != nil {
			return nil, err
		}
		return knn.New(donors, nil, p.opt).Fill(ctx, data, nil, p.wanted, env.Workers)
	case "shard":
		shards, err := codes(whole.Column(p.shard))
		if err != nil {
			return nil, err
		}
		return knn.FillGroups(ctx, data, shards, p.opt, p.wanted, env.Workers)
	}
	return knn.New(data, nil, p.opt).Fill(ctx, data, nil, p.wanted, env.Workers)
}

func (p imputing) reference(ctx context.Context, t pipeline.Table) (knn.Columns, error) {
	r, err := t.Collect(ctx)
	if err != nil {
		return nil, err
	}
	return p.matrix(r, p.donors)
}

// matrix is the columns at these places as numbers, NaN where a value is missing.
// An infinite one has no distance and counts as missing too.
func (p imputing) matrix(r arrow.Record, places []int) (knn.Columns, error) {
	data := make(knn.Columns, len(places))
	for j, i := range places {
		values, b := make([]float64, r.NumRows()), present(r.Column(i))
		err := look(r.Column(i), func(k int, v float64) {
			if values[k] = v; math.IsInf(v, 0) || !b.has(k) {
				values[k] = math.NaN()
			}
		})
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", p.names[j], err)
		}
		data[j] = values
	}
	return data, nil
}

// write puts the filled cells into the columns, and passes on those without any;
// whole numbers and codes are rounded half to even.
func (p imputing) write(whole arrow.Record, data knn.Columns, cells []knn.Cell) arrow.Record {
	changed := map[int]bool{}
	for _, c := range cells {
		v := c.Value
		if t := p.out.Domain.Columns[p.places[c.Column]].ArrowType().ID(); t == arrow.INT64 || t == arrow.INT32 {
			v = math.RoundToEven(v)
		}
		data[c.Column][c.Row], changed[c.Column] = v, true
	}
	columns := slices.Clone(whole.Columns())
	for w := range changed {
		i := p.places[w]
		columns[i] = store(columns[i].DataType(), data[w], nil)
	}
	return array.NewRecord(p.out.Schema, columns, whole.NumRows())
}
