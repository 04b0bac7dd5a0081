package sample

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/artifact"
)

// copyColumn says which copy a row is of.
const copyColumn = "copy"

// copied is the header of all copies.
func (s *Stage) copied(h, model pipeline.Header) (pipeline.Header, error) {
	var ps schema.Problems
	for _, c := range model.Domain.Columns {
		if c.Encoding != nil {
			ps.Add("copies", "given for a model that learned encoded columns", "absent: only models of marginals know the noise of what they were fitted to")
			break
		}
	}
	d := h.Domain.Clone()
	if d.Index(copyColumn) >= 0 {
		ps.Add("copies", "given for a table that has a column "+copyColumn, "absent, or a table without that column")
	}
	d.Columns = append(d.Columns, domain.Column{Name: copyColumn, Type: domain.Integer, Bounds: &[2]float64{1, float64(s.Copies)}, Source: "public", Doc: "number of the copy"})
	h.Rows *= int64(s.Copies)
	return pipeline.TableHeader(d, h), ps.Err()
}

// DrawAll is the one table, or all copies. Of env it uses Rand, Progress and Workers.
func (s *Stage) DrawAll(m artifact.Model, rows int64, class pipeline.Class, env *pipeline.Env) (pipeline.Table, error) {
	if s.Step > 0 {
		earlier, err := at(m, s.Step)
		if err != nil {
			return pipeline.Table{}, err
		}
		m = earlier
	}
	if s.Copies == 0 {
		return s.Draw(m, rows, class, env.Rand, env.Progress)
	}
	c, ok := m.(artifact.Copier)
	if !ok {
		var ps schema.Problems
		ps.Add("copies", "given for a model that does not know its noise", "absent")
		return pipeline.Table{}, ps.Err()
	}
	one, err := s.Draw(m, rows, class, env.Rand, env.Progress)
	if err != nil {
		return pipeline.Table{}, err
	}
	like := m.Header()
	like.Class = class
	h, err := s.copied(one.Header, like)
	return pipeline.Table{Header: h, Open: func(ctx context.Context) pipeline.Batches { return s.each(ctx, c, rows, h, env) }}, err
}

// each draws one copy after the other, holding one model at a time.
func (s *Stage) each(ctx context.Context, c artifact.Copier, rows int64, h pipeline.Header, env *pipeline.Env) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		for k := 1; k <= s.Copies; k++ {
			t, err := s.copy(ctx, c, k, rows, h.Class, env)
			if err != nil {
				yield(nil, err)
				return
			}
			for rec, err := range t.Open(ctx) {
				if err == nil {
					rec = numbered(rec, h.Schema, k)
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
		}
	}
}

// copy is the table of copy k.
func (s *Stage) copy(ctx context.Context, c artifact.Copier, k int, rows int64, class pipeline.Class, env *pipeline.Env) (pipeline.Table, error) {
	random := func(purpose string) *rand.Rand { return env.Rand(fmt.Sprintf("copy %d %s", k, purpose)) }
	m, err := c.Copy(ctx, random("noise"), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	done, all := rows*int64(k-1), rows*int64(s.Copies)
	return s.Draw(m, rows, class, random, func(n, _ int64) { env.Progress(done+n, all) })
}

// numbered is a batch with the number of its copy as last column.
func numbered(rec arrow.Record, schema *arrow.Schema, k int) arrow.Record {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.Reserve(int(rec.NumRows()))
	for range rec.NumRows() {
		b.UnsafeAppend(int64(k))
	}
	return array.NewRecord(schema, append(slices.Clone(rec.Columns()), b.NewArray()), rec.NumRows())
}
