package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/privacy"
	"weir/runtime/database/sql"
	"weir/runtime/table"
)

// stay is the value of dataset.database.rows by which no row leaves the database.
const stay = "stay"

// counter is what a database does for a table whose rows stay.
type counter interface {
	relation.Session
	// Content returns what tells the table's rows from all others, and which rules its cells break.
	Content(ctx context.Context) (content string, faults []sql.Fault, err error)
	// RowHashes returns the least hashes of the table's distinct rows, at most the given number, ascending.
	RowHashes(ctx context.Context, most int) ([]uint64, error)
	// Sample hands on the cells of at most the given number of rows, drawn by a public hash; nil where one is missing.
	Sample(ctx context.Context, most int64, use func(cells []*string) error) error
	Close() error
}

// viewed is the counter of a view, or of a SQLite file. A transaction and files that are held keep tables still, and
// neither a function that the view calls nor a foreign table behind it, and SQLite opens its file by name. So its
// content is asked for twice, and again behind all that is kept of it: what is counted, and charged for, is of the rows
// that the run was identified by.
type viewed struct {
	counter
	content string // "" before it was asked for
}

// counterOf returns the counter of a table, or of a view.
func counterOf(c counter, view bool) counter {
	if view {
		return &viewed{counter: c}
	}
	return c
}

// Content implements counter.
func (v *viewed) Content(ctx context.Context) (content string, faults []sql.Fault, err error) {
	if content, faults, err = v.counter.Content(ctx); err != nil {
		return "", nil, err
	}
	v.content = content
	return content, faults, v.same(ctx)
}

// Keep implements relation.Session.
func (v *viewed) Keep(ctx context.Context, r relation.Relation) (relation.Kept, error) {
	rowSet, err := v.counter.Keep(ctx, r)
	if err == nil {
		err = v.same(ctx)
	}
	return rowSet, err
}

// same refuses other rows than the first content was of.
func (v *viewed) same(ctx context.Context) error {
	content, _, err := v.counter.Content(ctx)
	if err == nil && content != v.content {
		err = fmt.Errorf("%w: the table %w", errDiffers, pipeline.ErrChanged)
	}
	return err
}

// errDiffers is a view with other rows at another time.
var errDiffers = errors.New("the rows differ from one reading to the next, must stay the same: " +
	"does the view call now() or random()?")

// staying is an opened table whose rows stay where they are.
type staying struct {
	name    string // for messages
	columns *domain.Domain
	counter counter
	sample  int64 // rows that may leave; 0: none
}

// errStay is a reading of rows that may not be read.
var errStay = errors.New("rows stay in the database (dataset.database.rows: stay) and must be read here; " +
	"rows: may_leave lets weir read them, sample_may_leave some of them")

// Table implements pipeline.Opened.
func (s *staying) Table() pipeline.Table {
	private := pipeline.Header{Class: pipeline.Private, Stability: pipeline.Unbounded()}
	t := pipeline.Table{Header: pipeline.TableHeader(s.columns, private)}
	t.Open = func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) { yield(s.sampled(ctx, t.Schema)) }
	}
	t.Pushed = &pipeline.Pushed{Relation: pipeline.StoredRelation(s.columns), Session: s.counter}
	return t
}

// sampled returns the rows that may leave.
func (s *staying) sampled(ctx context.Context, schema *arrow.Schema) (arrow.Record, error) {
	if s.sample == 0 {
		return nil, fmt.Errorf("%s: %w", s.name, errStay)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	err := s.counter.Sample(ctx, s.sample, func(cells []*string) error {
		for i, cell := range cells {
			if cell == nil {
				b.Field(i).AppendNull()
			} else if b.Field(i).AppendValueFromString(*cell) != nil { // its error quotes the cell
				return fmt.Errorf("%s: column %q: the database answers with another type than was asked for, "+
					"must be the declared one", s.name, schema.Field(i).Name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.NewRecord(), nil
}

// Content implements pipeline.Opened. It is counted in SQL, and so another one than of the same rows that were read.
func (s *staying) Content(ctx context.Context) (string, error) {
	content, faults, err := s.counter.Content(ctx)
	if err == nil {
		err = s.refused(faults)
	}
	if err != nil {
		return "", err
	}
	return "counted " + privacy.Digest(fmt.Appendf(nil, "%q %s", s.columns.Names(), content)), nil
}

// RowHashes implements pipeline.HashesRows.
func (s *staying) RowHashes(ctx context.Context, most int) ([]uint64, error) {
	return s.counter.RowHashes(ctx, most)
}

// refused words the rules that cells break, all columns at once.
func (s *staying) refused(faults []sql.Fault) error {
	var list []table.Problem
	for _, f := range faults {
		list = append(list, table.Problem{File: s.name, Column: f.Column, Rule: words(f.Rule)})
	}
	if len(list) == 0 {
		return nil
	}
	return &table.Error{Problems: list}
}

// Close implements pipeline.Opened.
func (s *staying) Close() error { return s.counter.Close() }

// words returns the words of a rule.
func words(r sql.Rule) string {
	return map[sql.Rule]string{
		sql.NotMissing: table.RuleMissing, sql.Finite: table.RuleFinite, sql.NotWhole: table.RuleWhole,
		sql.Magnitude: "is a number beyond those of a double; accepted: 0, and numbers from 1e-300 to 1e300 on either side " +
			"of it",
		sql.Range: table.RuleRange, sql.Rounded: table.RuleRounded, sql.Wide: table.RuleWide,
		sql.Category: table.RuleCategory,
		sql.Unknown:  table.RuleUnknown, sql.Span: table.RuleSpan,
		sql.Spelling: "spells a number otherwise than its category, which a database compares as text; declare the " +
			"spelling as an alias",
		sql.Endless: "is an infinite date or timestamp; make it missing in a view",
	}[r]
}

// errForm is a decimal number that a declared form would be read from.
var errForm = errors.New("has a format, must have none: a database's decimal numbers are not spelled in one")

// storedMeaning returns a stored column with what a declared one says of its cells.
func storedMeaning(c *domain.Column, csv *pipeline.CSV, stored sql.Stored) (sql.Stored, error) {
	m, err := table.MeaningOf(c, csv)
	if err != nil {
		return sql.Stored{}, err
	}
	if m.Formed && stored.Storage == sql.Decimal {
		return sql.Stored{}, errForm
	}
	stored.Of, stored.MayMiss, stored.UnknownMiss = pipeline.RelationType(c), m.MayMiss, m.UnknownMiss
	stored.Missing, stored.MissingWhole, stored.MissingReal = m.Missing, m.Whole, m.Numbers
	stored.MissingNaN = slices.Contains(m.Missing, "NaN")
	switch {
	case stored.Of == relation.Code:
		stored.Names, stored.Codes, stored.WholeCodes, stored.RealCodes, stored.Numbered = c.Categories, m.Codes,
			m.CodesOfWhole(),
			m.CodesOfNumber(), m.Numbered
		stored.MissingWhole, stored.MissingReal = m.MissingWhole(), m.MissingNumber()
	case c.Type.Moment():
		least, greatest := c.Type.Span()
		stored.Step, stored.Least, stored.Greatest = max(1, int64(c.Step)), int64(least), int64(greatest)
	case stored.Storage == sql.Double:
		stored.MissingNaN = stored.MissingNaN || slices.Contains(m.Missing, "nan")
	}
	return stored, nil
}

// storedColumns returns the columns of a domain as they are stored, by their names.
func storedColumns(d *domain.Domain, csv *pipeline.CSV, stored []sql.Stored) ([]sql.Stored, error) {
	var errs []error
	list := make([]sql.Stored, len(d.Columns))
	for i := range d.Columns {
		c := &d.Columns[i]
		index := slices.IndexFunc(stored, func(s sql.Stored) bool { return s.Name == c.Name })
		if index < 0 {
			errs = append(errs, fmt.Errorf("column %q: is declared but not in the table, must be a column of the table", c.Name))
			continue
		}
		var err error
		if list[i], err = storedMeaning(c, csv, stored[index]); err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", c.Name, err))
		}
	}
	return list, errors.Join(errs...)
}
