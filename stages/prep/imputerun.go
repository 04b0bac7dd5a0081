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

// Run implements pipeline.Stage. The table is held in memory: about 8 bytes a
// cell, and as much again for the index.
func (s *ImputeKNN) Run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	p, err := s.plan(headers(in))
	if err != nil {
		return nil, err
	}
	whole, err := in["in"].Collect(ctx)
	if err != nil {
		return nil, err
	}
	data, err := p.matrix(whole, in["in"].Domain)
	if err != nil {
		return nil, err
	}
	cells, err := s.fill(ctx, env, p, in, whole, data)
	if err != nil {
		return nil, err
	}
	filled, err := p.write(whole, data, cells)
	if err != nil {
		return nil, err
	}
	return pipeline.Tables{"out": pipeline.FromRecords(p.out, filled)}, nil
}

func (s *ImputeKNN) fill(ctx context.Context, env *pipeline.Env, p imputing, in pipeline.Tables, whole arrow.Record, data knn.Columns) ([]knn.Cell, error) {
	switch s.Scope {
	case "reference":
		donors, err := p.reference(ctx, in["reference"])
		if err != nil {
			return nil, err
		}
		return knn.New(donors, nil, p.opt).Fill(ctx, data, nil, p.wanted, env.Workers)
	case "shard":
		at := whole.Schema().FieldIndices(pipeline.ShardColumn)[0]
		shards, err := codes(whole.Column(at))
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
	there := imputing{}
	for _, name := range p.names {
		there.places = append(there.places, t.Domain.Index(name))
	}
	return there.matrix(r, t.Domain)
}

// matrix is the record as numbers, NaN where a value is missing.
func (p imputing) matrix(r arrow.Record, d *pipeline.Domain) (knn.Columns, error) {
	data := make(knn.Columns, len(p.places))
	for j, i := range p.places {
		values, err := floats(r.Column(i))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", d.Columns[i].Name, err)
		}
		data[j] = filled(values, present(r.Column(i)), math.NaN())
		if slices.ContainsFunc(data[j], func(v float64) bool { return math.IsInf(v, 0) }) {
			return nil, fmt.Errorf("column %s: has an infinite value, which has no distance", d.Columns[i].Name)
		}
	}
	return data, nil
}

// write puts the filled cells into the columns; whole numbers and codes are
// rounded half to even.
func (p imputing) write(whole arrow.Record, data knn.Columns, cells []knn.Cell) (arrow.Record, error) {
	for _, c := range cells {
		v := c.Value
		if t := p.out.Domain.Columns[p.places[c.Column]].ArrowType().ID(); t == arrow.INT64 || t == arrow.INT32 {
			v = math.RoundToEven(v)
		}
		data[c.Column][c.Row] = v
	}
	columns := slices.Clone(whole.Columns())
	for _, w := range p.wanted {
		i := p.places[w]
		columns[i] = store(columns[i].DataType(), data[w], nil)
	}
	return array.NewRecord(p.out.Schema, columns, whole.NumRows()), nil
}
