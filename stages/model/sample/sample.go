// Package sample holds the kind sample, which draws rows from what any family of
// models releases.
package sample

import (
	"cmp"
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
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/stages/prep"
)

// Stage draws rows from a released model, in the terms of the source table.
// Drawing from a released model is post-processing: it costs nothing.
type Stage struct {
	Rows        *int64                   `yaml:"rows,omitempty" json:"rows,omitempty" min:"0" max:"1000000000" doc:"Rows to draw: a public number, never a private count. Needed unless rows_from names a released one."`
	Copies      int                      `yaml:"copies,omitempty" json:"copies,omitempty" min:"2" max:"1000" doc:"Tables of so many rows, one below the other, with their number in a column copy. Each is drawn from the model fitted again to its own counts with fresh noise, so that what differs between copies carries the noise of the release (not what was never measured). Models of marginals only. Without it there is one table; several drawn from one model say nothing of its noise."`
	Step        int                      `yaml:"step,omitempty" json:"step,omitempty" min:"1" doc:"Draw from the model as it was after this step of its training, which it holds where release_every kept it. The guarantee is that of all steps. The last by default."`
	Where       map[string]domain.Choice `yaml:"where,omitempty" json:"where,omitempty" doc:"Values by column, spelled as in rules of the domain: a category, a number, a range such as 18..30, missing, or a list of these. Only rows that have one of them in every column are kept, and rows counts these; the result has no other values. Drawn by rejection, so rare rows take long."`
	MaxTries    int                      `yaml:"max_tries,omitempty" json:"max_tries,omitempty" min:"1" max:"1000000" doc:"With where: at most so many rows are drawn for each one that is wanted (1000 by default); a condition that the model meets less often is an error."`
	Categorical string                   `yaml:"categorical" json:"categorical" enum:"sample|argmax" doc:"How a category is chosen: drawn from the model's probabilities, or the most probable one. Of two categories in one encoded column the number is the probability of the second."`
}

// Kinds lists the one kind of this package.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{{
		Name: "sample", Version: 6, Late: true, Draws: true, Called: "synthetic table",
		Doc: "Draws synthetic rows from a released model. Draws rows and maps them back to the source's columns, " +
			"categories, steps and " +
			"bounds. " +
			"Drawing is post-processing of a paid release, so any number of rows costs nothing. Use it after a model. The " +
			"class is that of the model.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "A trained model."},
			{Name: "rows_from", Form: pipeline.FormCount, Optional: true,
				Doc: "A released number of rows (dp_count): as many are drawn."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "Synthetic rows."}},
		New: func() pipeline.Stage { return &Stage{Categorical: "sample"} },
	}}
}

// Plan states the domain of the source, as far as the steps before the model
// can be undone.
func (s *Stage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	count, counted := in["rows_from"]
	var ps schema.Problems
	switch {
	case s.Rows == nil && !counted:
		ps.Add("rows", "missing", "a public number of rows, or rows_from: a stage of kind dp_count")
	case s.Rows != nil && counted:
		ps.Add("rows", fmt.Sprint(*s.Rows)+", and rows_from is given too", "one of the two")
	}
	if s.Step != 0 && !in["in"].Kept.Has(s.Step) {
		ps.Add("step", fmt.Sprint(s.Step), in["in"].Kept.Accepted())
	}
	h, err := s.header(in["in"], in["in"].Class.Join(cmp.Or(count.Class, pipeline.Public)))
	if err != nil {
		return pipeline.Work{}, err
	}
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Write: []string{pipeline.UsualFormats},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := artifact.Read[artifact.Model](ctx, in["in"], env.Readers)
			if err != nil {
				return nil, err
			}
			rows, err := s.rows(ctx, in)
			if err != nil {
				return nil, err
			}
			t, err := s.DrawAll(m, rows, h.Class, env)
			return pipeline.Tables{"out": t}, err
		}}, ps.Err()
}

func (s *Stage) header(model pipeline.Header, class pipeline.Class) (pipeline.Header, error) {
	h := pipeline.TableHeader(model.Domain, pipeline.Header{Class: class, Ruled: model.Ruled,
		Stability: pipeline.Unbounded(), Terms: model.Terms})
	if s.Rows != nil {
		h.Rows = *s.Rows
	}
	h, err := prep.InvertHeader(h)
	if err != nil {
		return h, err
	}
	c, err := s.conditions(h)
	if err != nil || s.Copies == 0 {
		return c.out, err
	}
	return s.copied(c.out, model)
}

// atStep returns a model after an earlier step.
func atStep(m artifact.Model, step int) (artifact.Model, error) {
	if earlier, ok := m.(artifact.Stepper); ok {
		return earlier.At(step)
	}
	var ps schema.Problems
	ps.Add("step", fmt.Sprint(step), "absent: the model is not trained by steps")
	return nil, ps.Err()
}

// rows returns how many to draw: the number of the settings, or the released one.
func (s *Stage) rows(ctx context.Context, in pipeline.Tables) (int64, error) {
	if s.Rows != nil {
		return *s.Rows, nil
	}
	c, err := columns.ReadRowCount(ctx, in["rows_from"])
	return min(c.Rows, mostRows), err
}

// mostRows is the greatest number that the settings can ask for.
const mostRows = 1_000_000_000

// Draw returns the table of the given number of rows of m, which meet the conditions of the settings.
// random makes public randomness by purpose; the same table is drawn whenever it is
// read, in memory that does not grow with its rows.
func (s *Stage) Draw(m artifact.Model, rows int64, class pipeline.Class, random func(purpose string) *rand.Rand,
	progress func(done, total int64)) (pipeline.Table, error) {
	if len(s.Where) > 0 {
		return s.meeting(m, rows, class, random, progress)
	}
	t, err := s.unconditional(m, rows, rows, class, random, progress)
	if err == nil {
		t.Header = promised(t.Header, t.Domain)
	}
	return t, err
}

// unconditional returns a table of total rows of m, which is told that there will be rows of them.
// Rows of which conditions choose are independent.
func (s *Stage) unconditional(m artifact.Model, rows, total int64, class pipeline.Class,
	random func(purpose string) *rand.Rand, progress func(done, total int64)) (pipeline.Table, error) {
	h := m.Header()
	h.Class, h.Rows = class, total
	how := artifact.Drawing{Argmax: s.Categorical == "argmax", Independent: len(s.Where) > 0, Rows: rows, Random: random}
	if _, err := m.Draw(how); err != nil {
		return pipeline.Table{}, err
	}
	t := pipeline.Table{Header: h, Open: func(ctx context.Context) pipeline.Batches {
		return batches(ctx, m, total, how, progress)
	}}
	return prep.Invert(t, func() *rand.Rand { return random("restore") })
}

func batches(ctx context.Context, m artifact.Model, total int64, how artifact.Drawing,
	progress func(done, total int64)) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		rows, err := m.Draw(how)
		if err != nil {
			yield(nil, err)
			return
		}
		most := rowsAtOnce(m.Header().Domain)
		for done := int64(0); done < total; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			n := min(total-done, most)
			rec, err := rows(int(n))
			if !yield(rec, err) || err != nil {
				return
			}
			done += n
			progress(done, total)
		}
	}
}

// rowsAtOnce bounds a batch by what a row is drawn from: a number for each category.
// Without it a small model with a long list of categories takes all memory.
func rowsAtOnce(d *domain.Domain) int64 {
	width := int64(0)
	for _, c := range d.Columns {
		width += max(1, int64(len(c.Categories)))
	}
	return max(1, min(artifact.BatchRows, mostCells/max(1, width)))
}

// mostCells is how many such numbers are drawn at a time: 64 MiB of them.
const mostCells = 1 << 24

// copyColumn says which copy a row is of.
const copyColumn = "copy"

// copied returns the header of all copies.
func (s *Stage) copied(h, model pipeline.Header) (pipeline.Header, error) {
	var ps schema.Problems
	for _, c := range model.Domain.Columns {
		if c.Encoding != nil {
			ps.Add("copies", "given for a model that learned encoded columns",
				"absent: only models of marginals know the noise of what they were fitted to")
			break
		}
	}
	d := h.Domain.Clone()
	if d.Index(copyColumn) >= 0 {
		ps.Add("copies", "given for a table that has a column "+copyColumn, "absent, or a table without that column")
	}
	d.Columns = append(d.Columns, domain.Column{Name: copyColumn, Type: domain.Integer,
		Bounds: &[2]float64{1, float64(s.Copies)}, Source: "public", Doc: "number of the copy"})
	h.Rows *= int64(s.Copies)
	return pipeline.TableHeader(d, h), ps.Err()
}

// DrawAll returns the one table, or all copies. Of env it uses Rand, Progress and Workers.
func (s *Stage) DrawAll(m artifact.Model, rows int64, class pipeline.Class, env *pipeline.Env) (pipeline.Table, error) {
	if s.Step > 0 {
		earlier, err := atStep(m, s.Step)
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
	return pipeline.Table{Header: h, Open: func(ctx context.Context) pipeline.Batches {
		return s.each(ctx, c, rows, h,
			env)
	}}, err
}

// each draws one copy after the other, holding one model at a time.
func (s *Stage) each(ctx context.Context, c artifact.Copier, rows int64, h pipeline.Header,
	env *pipeline.Env) pipeline.Batches {
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

// copy returns the table of copy k.
func (s *Stage) copy(ctx context.Context, c artifact.Copier, k int, rows int64, class pipeline.Class,
	env *pipeline.Env) (pipeline.Table, error) {
	random := func(purpose string) *rand.Rand { return env.Rand(fmt.Sprintf("copy %d %s", k, purpose)) }
	m, err := c.Copy(ctx, random("noise"), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	done, all := rows*int64(k-1), rows*int64(s.Copies)
	return s.Draw(m, rows, class, random, func(n, _ int64) { env.Progress(done+n, all) })
}

// numbered returns a batch with the number of its copy, k, as last column.
func numbered(rec arrow.Record, schema *arrow.Schema, k int) arrow.Record {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.Reserve(int(rec.NumRows()))
	for range rec.NumRows() {
		b.UnsafeAppend(int64(k))
	}
	return array.NewRecord(schema, append(slices.Clone(rec.Columns()), b.NewArray()), rec.NumRows())
}
