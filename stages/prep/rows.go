package prep

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
)

// maker computes one column of the output from a batch of the input.
type maker func(arrow.Record) (arrow.Array, error)

// rewrite is a row-by-row stage after planning: the output's header and, for
// each of its domain columns, how it is made. Makers are asked for anew each
// time the table is opened, since some draw random numbers as they go.
type rewrite struct {
	out      pipeline.Header
	makers   func() []maker
	findings []pipeline.Finding
}

// keep is the maker that passes input column i on.
func keep(i int) maker {
	return func(r arrow.Record) (arrow.Array, error) { return r.Column(i), nil }
}

// keepAll passes on every domain column of d.
func keepAll(d *pipeline.Domain) []maker {
	makers := make([]maker, len(d.Columns))
	for i := range makers {
		makers[i] = keep(i)
	}
	return makers
}

// fixed offers the same makers at each opening.
func fixed(makers []maker) func() []maker { return func() []maker { return makers } }

// rowHeader is the header of a table computed row by row with public
// parameters: class, stability and public row count stay (DESIGN section 3).
func rowHeader(in pipeline.Header, d *pipeline.Domain) pipeline.Header {
	return pipeline.TableHeader(d, in)
}

// outline is the plan of a lazy stage with one output.
func (w rewrite) outline() pipeline.Outline {
	return pipeline.Outline{Out: pipeline.Headers{"out": w.out}, Lazy: true, Findings: w.findings}
}

// apply changes the batches of t as they are read. The shard column, where
// there is one, is passed on.
func (w rewrite) apply(t pipeline.Table) pipeline.Table {
	shard := -1
	if t.Schema.HasField(pipeline.ShardColumn) {
		shard = t.Schema.FieldIndices(pipeline.ShardColumn)[0]
	}
	return pipeline.Table{Header: w.out, Open: func(ctx context.Context) pipeline.Batches {
		makers := w.makers()
		if shard >= 0 {
			makers = append(makers[:len(makers):len(makers)], keep(shard))
		}
		return t.Map(w.out, func(r arrow.Record) (arrow.Record, error) { return w.record(r, makers) }).Open(ctx)
	}}
}

func (w rewrite) record(r arrow.Record, makers []maker) (arrow.Record, error) {
	columns := make([]arrow.Array, len(makers))
	for i, make := range makers {
		c, err := make(r)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", w.out.Schema.Field(i).Name, err)
		}
		columns[i] = c
	}
	return array.NewRecord(w.out.Schema, columns, r.NumRows()), nil
}

// planRows and runRows are Plan and Run of every stage that is a rewrite of its
// one input: both derive it from the header alone.
func planRows(in pipeline.Headers, plan func(pipeline.Header) (rewrite, error)) (pipeline.Outline, error) {
	w, err := plan(in["in"])
	if err != nil {
		return pipeline.Outline{}, err
	}
	return w.outline(), nil
}

func runRows(in pipeline.Tables, plan func(pipeline.Header) (rewrite, error)) (pipeline.Tables, error) {
	t := in["in"]
	w, err := plan(t.Header)
	if err != nil {
		return nil, err
	}
	return pipeline.Tables{"out": w.apply(t)}, nil
}

// tableIn and tableOut are the sockets of a kind with one table in and one out.
func tableIn() []pipeline.Port {
	return []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "the table"}}
}

func tableOut(doc string) []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: doc}}
}

// remember appends an invertible step to the history of d, which led to it from
// before.
func remember(d, before *pipeline.Domain, kind string, params []byte) {
	from := before.Clone()
	from.History = nil
	d.History = append(d.History, pipeline.Transform{Kind: kind, Params: params, Before: from})
}
