package sample

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/artifact"
)

// Rows under conditions are drawn by rejection: independent rows of the model are drawn, in the
// terms of the source, and those that meet all of them are kept, until there are as many as
// asked for. So their law is that of the model given the conditions, for every family. Counts
// that a model rounds over a table of few rows would have another law, or never meet a
// condition. How many rows are drawn is bounded by public numbers alone.

// mostTries is how many rows are drawn for each that is wanted, where the settings do not say.
const mostTries = 1000

// conditions are those of the settings on tables of one header.
type conditions struct {
	out    pipeline.Header
	places []int // of the columns with a condition
	values []domain.Values
	codes  [][]int32 // by column with a condition: its new code for each old one; nil: as they were
}

// conditions reads the settings against the header of rows in the terms of the source.
func (s *Stage) conditions(h pipeline.Header) (conditions, error) {
	var ps schema.Problems
	if len(s.Where) == 0 {
		if s.MaxTries > 0 {
			ps.Add("max_tries", "given without where", "absent: every row that is drawn is kept")
		}
		return conditions{out: promised(h, h.Domain)}, ps.Err()
	}
	by, wrong := domain.ReadWhere(h.Domain, "where", s.Where)
	ps = append(ps, wrong...)
	s.possible(h.Domain, by, &ps)
	if err := ps.Err(); err != nil {
		return conditions{}, err
	}
	c := conditions{out: h}
	d := h.Domain.Clone()
	for at := range d.Columns {
		v, given := by[at]
		if !given {
			continue
		}
		old := d.Columns[at]
		if old.Late {
			ps.Add("where", "about the column "+old.Name, "about columns whose values the plan knows")
		}
		d.Columns[at] = domain.Narrowed(old, v)
		d.Lift(old.Name) // of rules that name values which no row has any more
		c.places, c.values, c.codes = append(c.places, at), append(c.values, v), append(c.codes, recoded(old, d.Columns[at]))
	}
	d.LiftTotals()
	c.out = promised(h, d)
	return c, ps.Err()
}

// recoded is the new code of each old category, -1 of one that is gone; nil where all stay.
func recoded(old, now domain.Column) []int32 {
	if slices.Equal(old.Categories, now.Categories) {
		return nil
	}
	codes := make([]int32, len(old.Categories))
	for i, name := range old.Categories {
		codes[i] = int32(slices.Index(now.Categories, name))
	}
	return codes
}

// meeting is the table of so many rows of m that meet the conditions of the settings.
func (s *Stage) meeting(m artifact.Model, rows int64, class pipeline.Class, random func(purpose string) *rand.Rand, progress func(done, total int64)) (pipeline.Table, error) {
	tries := rows * int64(cmp.Or(s.MaxTries, mostTries))
	all, err := s.unconditional(m, rows, tries, class, random, func(_, _ int64) {})
	if err != nil {
		return pipeline.Table{}, err
	}
	all.Rows = rows
	c, err := s.conditions(all.Header)
	return pipeline.Table{Header: c.out, Open: func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			b := batch{schema: c.out.Schema, yield: yield}
			kept := int64(0)
			for rec, err := range all.Open(ctx) {
				if err == nil {
					rec, err = c.kept(rec, rows-kept)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				kept += rec.NumRows()
				progress(kept, rows)
				if !b.add(rec, kept == rows) || kept == rows {
					return
				}
			}
			if kept < rows {
				yield(nil, s.rare())
			}
		}
	}}, err
}

// rare is said of conditions that the model's rows meet too seldom. It tells no count: what is
// drawn may be the rows of a model without privacy.
func (s *Stage) rare() error {
	return fmt.Errorf("where: is {%s}, which fewer rows meet than one in %d that the model draws; accepted: values that it draws more often, or a greater max_tries",
		domain.SayWhere(s.Where), cmp.Or(s.MaxTries, mostTries))
}
