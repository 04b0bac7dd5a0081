package prep

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
)

// run computes the edges that are quantiles and bins each value.
func (p discretizing) run(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	makers := keepAll(p.out.Domain)
	for _, i := range p.places {
		edges, err := p.cuts(ctx, in[p.port], i)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", p.out.Domain.Columns[i].Name, err)
		}
		makers[i] = binMaker(i, edges)
	}
	w := rewrite{out: p.out, makers: fixed(makers)}
	return pipeline.Tables{"out": w.apply(in["in"], nil)}, nil
}

// elsewhere states the bins of planned edges; quantiles are known when the stage runs.
func (p discretizing) elsewhere(in pipeline.Header) pipeline.Statement {
	if len(p.places) != len(p.edges) {
		return needsRows("cuts at quantiles, which are computed from the rows of a table")
	}
	w := rewrite{out: p.out, exprs: sameAll(in.Domain)}
	for _, i := range p.places {
		var inner []float64
		if edges := p.edges[i]; len(edges) > 2 {
			inner = edges[1 : len(edges)-1]
		}
		w.exprs[i] = stating(i, func(e relation.Expr) relation.Expr {
			return relation.Bins{E: relation.AsReal{E: e}, Edges: inner}
		})
	}
	return w.elsewhere
}

// cuts are the edges of column i: those planned, or the quantiles of t. Of a table
// without values there are none, and every value, were there one, is in the only bin.
func (p discretizing) cuts(ctx context.Context, t pipeline.Table, i int) ([]float64, error) {
	if edges := p.edges[i]; edges != nil {
		return edges, nil
	}
	values, err := observed(ctx, t, p.from[i])
	return quantileEdges(values, p.bins), err
}

// observed reads all present values of column i.
func observed(ctx context.Context, t pipeline.Table, i int) ([]float64, error) {
	var all []float64
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		b := present(r.Column(i))
		err = look(r.Column(i), func(j int, v float64) {
			if b.has(j) {
				all = append(all, v)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, ctx.Err()
}

func binMaker(i int, edges []float64) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		out := make([]int32, r.NumRows())
		err := look(r.Column(i), func(j int, v float64) { out[j] = bin(edges, v) })
		return column(arrow.PrimitiveTypes.Int32, out, present(r.Column(i))), err
	}
}

// unbin makes column i of a batch numbers again.
func (p binned) unbin(i int, to domain.Column, random randomness) maker {
	values, draw := restoring(to), func() float64 { return 0.5 }
	if p.Inverse == "uniform" {
		draw = random(i).Float64
	}
	return func(r arrow.Record) (arrow.Array, error) {
		from, err := codes(r.Column(i))
		if err != nil {
			return nil, err
		}
		x := make([]float64, len(from))
		for j, c := range from {
			x[j] = values.value(within(p.Edges, c, draw()))
		}
		return store(to.ArrowType(), x, present(r.Column(i))), nil
	}
}
