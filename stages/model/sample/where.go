package sample

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/stages/prep"
)

// Rows under conditions are drawn by rejection: independent rows of the model are drawn, in the
// terms of the source, and the rows that meet all of them are kept, until there are as many as
// asked for. So their law is the law of the model given the conditions, for every family. Counts
// that a model rounds over a table of few rows would have another law, or never meet a
// condition. How many rows are drawn is bounded by public numbers alone.

// mostTries is how many rows are drawn for each that is wanted, where the settings do not say.
const mostTries = 1000

// conditions are the conditions of the settings on tables of one header.
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
	values, wrong := domain.ReadWhere(h.Domain, "where", s.Where)
	ps = append(ps, wrong...)
	s.possible(h.Domain, values, &ps)
	if err := ps.Err(); err != nil {
		return conditions{}, err
	}
	c := conditions{out: h}
	d := h.Domain.Clone()
	for pos := range d.Columns {
		v, given := values[pos]
		if !given {
			continue
		}
		old := d.Columns[pos]
		if old.Late {
			ps.Add("where", "about the column "+old.Name, "about columns whose values the plan knows")
		}
		d.Columns[pos] = domain.Narrowed(old, v)
		d.Lift(old.Name) // of rules that name values which no row has any more
		c.places, c.values, c.codes = append(c.places, pos), append(c.values, v),
			append(c.codes, recoded(old, d.Columns[pos]))
	}
	d.LiftTotals()
	c.out = promised(h, d)
	return c, ps.Err()
}

// recoded returns the new code of each old category, -1 of one that is gone; nil where all stay.
func recoded(old, current domain.Column) []int32 {
	if slices.Equal(old.Categories, current.Categories) {
		return nil
	}
	codes := make([]int32, len(old.Categories))
	for i, name := range old.Categories {
		codes[i] = int32(slices.Index(current.Categories, name))
	}
	return codes
}

// meeting returns the table of the given number of rows of m that meet the conditions of the settings.
func (s *Stage) meeting(m artifact.Model, rows int64, class pipeline.Class, random func(purpose string) *rand.Rand,
	progress func(done, total int64)) (pipeline.Table, error) {
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
			retained := int64(0)
			for rec, err := range all.Open(ctx) {
				if err == nil {
					rec, err = c.matching(rec, rows-retained)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				retained += rec.NumRows()
				progress(retained, rows)
				if !b.add(rec, retained == rows) || retained == rows {
					return
				}
			}
			if retained < rows {
				yield(nil, &RareError{Where: s.Where, Tries: cmp.Or(s.MaxTries, mostTries)})
			}
		}
	}}, err
}

// RareError reports conditions that the model's rows meet too seldom. It tells no count: what is drawn may be the rows
// of a model without privacy.
type RareError struct {
	Where map[string]domain.Choice
	Tries int // rows that were drawn for each that was wanted
}

// Error names the settings.
func (e *RareError) Error() string { return e.Of("where", "max_tries") }

// Of returns the text of the error, where the settings where and max_tries are called so.
func (e *RareError) Of(where, tries string) string {
	return fmt.Sprintf("%s: is {%s}, which fewer rows meet than one in %d that the model draws; accepted: values that it "+
		"draws more often, or a greater %s", where, domain.SayWhere(e.Where), e.Tries, tries)
}

// matching returns the first rows of a record, at most the given number, that meet the conditions.
func (c *conditions) matching(rec arrow.Record, most int64) (arrow.Record, error) {
	meets := make([]bool, rec.NumRows())
	for i := range meets {
		meets[i] = true
	}
	for i, at := range c.places {
		if err := strike(meets, c.values[i], rec.Column(at)); err != nil {
			return nil, fmt.Errorf("column %s: %w", rec.ColumnName(at), err)
		}
	}
	rows := make([]int, 0, len(meets))
	for i, is := range meets {
		if is && int64(len(rows)) < most {
			rows = append(rows, i)
		}
	}
	rec, err := prep.TakeRows(rec, rows)
	if err != nil {
		return nil, err
	}
	columns := slices.Clone(rec.Columns())
	for i, codes := range c.codes {
		if codes != nil {
			columns[c.places[i]] = recode(columns[c.places[i]].(*array.Int32), codes)
		}
	}
	return array.NewRecord(c.out.Schema, columns, rec.NumRows()), nil
}

// strike marks the rows whose value of a column is none of those wanted.
func strike(meets []bool, wanted domain.Values, a arrow.Array) error {
	var eval func(i int) float64
	switch a := a.(type) {
	case *array.Int32:
		eval = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int64:
		eval = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		eval = a.Value
	default:
		return fmt.Errorf("has the Arrow type %s, must be a number or a category", a.DataType())
	}
	for i := range meets {
		v := math.NaN()
		if a.IsValid(i) {
			v = eval(i)
		}
		meets[i] = meets[i] && wanted.Has(v)
	}
	return nil
}

// recode gives categories their new codes. Those that are gone were struck.
func recode(a *array.Int32, codes []int32) arrow.Array {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.Reserve(a.Len())
	for i, code := range a.Int32Values() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(codes[code])
		}
	}
	return b.NewArray()
}

// batch gathers records of few rows, so that a rare condition does not make as many records
// as rows.
type batch struct {
	schema  *arrow.Schema
	yield   func(arrow.Record, error) bool
	waiting []arrow.Record
	rows    int64
}

// add takes a record, and hands on what waits once it is a batch, or the last one. It is
// false where nobody wants more.
func (b *batch) add(rec arrow.Record, last bool) bool {
	rec.Retain()
	b.waiting, b.rows = append(b.waiting, rec), b.rows+rec.NumRows()
	if !last && b.rows < artifact.BatchRows && len(b.waiting) < artifact.BatchRows {
		return true
	}
	columns := make([]arrow.Array, b.schema.NumFields())
	for i := range columns {
		parts := make([]arrow.Array, len(b.waiting))
		for j, r := range b.waiting {
			parts[j] = r.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			b.yield(nil, err)
			return false
		}
	}
	joined := array.NewRecord(b.schema, columns, b.rows)
	b.waiting, b.rows = nil, 0
	return b.yield(joined, nil)
}

// promised returns the header of rows of a domain without the rules that the model does not hold:
// whoever reads the domain of a table takes its rules for granted. h says whether it does.
func promised(h pipeline.Header, d *domain.Domain) pipeline.Header {
	if !h.Ruled && len(d.Constraints) > 0 {
		d = d.Clone()
		d.Constraints = nil
	}
	h.Ruled = false // of a table the rules in its domain say all
	return pipeline.TableHeader(d, h)
}

// mostSteps bounds the search for a row that meets the conditions: what is not found out in
// so many steps is left to drawing.
const mostSteps = 1 << 16

// possible adds a problem where no row meets the conditions, by the rules that the domain
// declares, whether the model holds them or not. Rules are public, so nothing is looked at
// beside them.
func (s *Stage) possible(d *domain.Domain, values map[int]domain.Values, ps *schema.Problems) {
	rules, _ := domain.ReadRules(d)
	all := make([]*domain.Rule, 0, len(rules))
	for i := range rules {
		all = append(all, &rules[i])
	}
	for _, group := range domain.Components(all) {
		if len(*ps) > 0 {
			return
		}
		if broken := never(d, group.Rules, values); len(broken) > 0 {
			ps.Add("where", fmt.Sprintf("{%s}, which no row has by the rules of the domain: %s", domain.SayWhere(s.Where),
				strings.Join(broken, "; ")), "values that the rules leave possible together")
		}
	}
}

// never names rules that no row with the values keeps: one of them where one is enough, else
// all of them together; none where there is such a row, or where it takes too long to know.
func never(d *domain.Domain, rules []*domain.Rule, values map[int]domain.Values) (broken []string) {
	if _, found, _ := domain.FindRow(d, rules, values, mostSteps); found != domain.NoRow {
		return nil
	}
	for _, r := range rules {
		if _, found, _ := domain.FindRow(d, []*domain.Rule{r}, values, mostSteps); found == domain.NoRow {
			return []string{ruleName(r)}
		}
		broken = append(broken, ruleName(r))
	}
	return broken
}

func ruleName(r *domain.Rule) string { return fmt.Sprintf("constraints[%d], %s", r.Place, r.Label) }
