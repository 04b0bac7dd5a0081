package prep

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/relation"
	"weir/schema"
)

// Select keeps the named columns, in the order given.
type Select struct {
	Columns []string `yaml:"columns" json:"columns" required:"true" format:"columns" minItems:"1" doc:"Columns to keep, in this order."`
}

func selectKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "select", Version: 1, Late: true, In: tableIn(), Out: tableOut("the table with these columns only"),
		Doc: "Keeps the named columns, in the order given. Use it to leave out identifiers and whatever the synthetic " +
			"table need not have: " +
			"every column costs accuracy at a fixed budget. Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &Select{} },
	}
}

func (s *Select) plan(h pipeline.Header) (rewrite, error) {
	var ps schema.Problems
	picked := h.Domain.Pick(&ps, "columns", s.Columns)
	if len(s.Columns) == 0 {
		ps.Add("columns", "empty", "at least one column")
	}
	return subset(h, picked), ps.Err()
}

// Plan implements pipeline.Stage.
func (s *Select) Plan(in pipeline.Headers) (pipeline.Work, error) { return planRows(in, s.plan) }

// Drop leaves out the named columns.
type Drop struct {
	Columns []string `yaml:"columns" json:"columns" required:"true" format:"columns" minItems:"1" doc:"Columns to leave out."`
}

func dropKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "drop", Version: 1, Late: true, In: tableIn(), Out: tableOut("the table without these columns"),
		Doc: "Leaves out the named columns. Use it for identifiers, free text and columns that no one will analyse. " +
			"Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &Drop{} },
	}
}

func (s *Drop) plan(h pipeline.Header) (rewrite, error) {
	var ps schema.Problems
	removed := map[int]bool{}
	for _, i := range h.Domain.Pick(&ps, "columns", s.Columns) {
		removed[i] = true
	}
	var retained []int
	for i := range h.Domain.Columns {
		if !removed[i] {
			retained = append(retained, i)
		}
	}
	if len(retained) == 0 {
		ps.Add("columns", "every column of the table", "fewer, so that a column remains")
	}
	return subset(h, retained), ps.Err()
}

// Plan implements pipeline.Stage.
func (s *Drop) Plan(in pipeline.Headers) (pipeline.Work, error) { return planRows(in, s.plan) }

// subset keeps the columns at the given places.
func subset(h pipeline.Header, places []int) rewrite {
	d := h.Domain.Clone()
	d.Columns = nil
	makers, exprs := make([]maker, len(places)), make([]stated, len(places))
	for j, i := range places {
		d.Columns = append(d.Columns, h.Domain.Columns[i])
		makers[j], exprs[j] = keep(i), sameAs(i)
	}
	return rewrite{out: rowHeader(h, d), makers: fixed(makers), exprs: exprs}
}

// Filter keeps the rows for which a formula is true.
type Filter struct {
	Keep    string `yaml:"keep" json:"keep" required:"true" doc:"Formula over the columns of a row, such as age >= 18 and cholesterol in [\"1\", \"2\"]; rows for which it is true are kept."`
	Missing string `yaml:"missing" json:"missing" enum:"drop|keep|error" doc:"How rows are handled in which a value that the formula uses is missing; missing(column) tests for that without being missing itself. error stops the run and is refused on a private table."`
}

func filterKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "filter", Version: 2, Late: true, In: tableIn(), Out: tableOut("the rows that are kept"),
		Doc: "Keeps the rows for which a public formula is true. Use it to restrict a table to a declared population. " +
			"Works row by row, so " +
			"stability stays as it is, but the row count of a private table is private afterwards.",
		New: func() pipeline.Stage { return &Filter{Missing: "drop"} },
	}
}

func (s *Filter) plan(h pipeline.Header) (pipeline.Header, *expression, error) {
	var ps schema.Problems
	e := compile(&ps, "keep", s.Keep, h.Domain, reflect.Bool)
	if e != nil && e.divides {
		ps.Add("keep", "a formula with a division or power, which may have no value", "written with products")
	}
	if s.Missing == "error" {
		refuseTelling(&ps, h, "missing", "error", "drop or keep")
	}
	h.Rows = 0
	h.Domain = h.Domain.Clone()
	h.Domain.LiftTotals()
	return h, e, ps.Err()
}

// refuseTelling refuses a setting that ends the run on a value of a private table:
// that the run failed would tell of that value, free of charge.
func refuseTelling(ps *schema.Problems, h pipeline.Header, path, found, accepted string) {
	if h.Class == pipeline.Private && !h.Terms.NoPrivacy {
		ps.Refuse("W30", path, found+" on a private table, so that whether the run ends tells of private values", accepted)
	}
}

// Plan implements pipeline.Stage.
func (s *Filter) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h, e, err := s.plan(in["in"])
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Lazy: true, Elsewhere: s.elsewhere(in["in"], e),
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			open := filterRows(in["in"], func(r arrow.Record) ([]int, error) { return s.pick(e, r) })
			return pipeline.Tables{"out": {Header: h, Open: open}}, nil
		}}, err
}

// elsewhere states pick, where the formula can be stated.
func (s *Filter) elsewhere(h pipeline.Header, e *expression) pipeline.Statement {
	if s.Missing == "error" {
		return needsRows("ends the run at a value, which SQL cannot")
	}
	return func(r relation.Relation) (relation.Relation, error) {
		in := r.Columns()
		keep, err := e.stated(in)
		if err != nil {
			return r, fmt.Errorf("keep: %w", err)
		}
		if s.Missing == "keep" {
			keep = relation.Any{Of: []relation.Expr{relation.IsMissing{E: keep}, keep}}
		}
		l := relation.Layer{Where: keep}
		for i, c := range h.Domain.Columns {
			l.Columns = append(l.Columns, relation.Named{Name: c.Name, Expr: in[i]})
		}
		return r.With(l), nil
	}
}

func (s *Filter) pick(e *expression, r arrow.Record) ([]int, error) {
	v, err := e.evaluator(r)
	if err != nil {
		return nil, err
	}
	var rows []int
	for i := range int(r.NumRows()) {
		keep := v.row(i)
		if keep == nil && s.Missing == "error" {
			return nil, errors.New("keep: some row lacks a value that the formula uses, must have it under missing: error")
		}
		if keep == true || keep == nil && s.Missing == "keep" {
			rows = append(rows, i)
		}
	}
	return rows, nil
}

// TakeRows returns the record of the given rows of r, in their order. Its columns are numbers and texts.
func TakeRows(r arrow.Record, rows []int) (arrow.Record, error) {
	if int64(len(rows)) == r.NumRows() {
		return r, nil
	}
	columns := make([]arrow.Array, r.NumCols())
	for i := range columns {
		c, err := take(r.Column(i), rows)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", r.ColumnName(i), err)
		}
		columns[i] = c
	}
	return array.NewRecord(r.Schema(), columns, int64(len(rows))), nil
}

func take(a arrow.Array, rows []int) (arrow.Array, error) {
	b := takeBits(present(a), rows)
	switch a := a.(type) {
	case *array.Float64:
		return column(a.DataType(), gather(a.Float64Values(), rows), b), nil
	case *array.Int64:
		return column(a.DataType(), gather(a.Int64Values(), rows), b), nil
	case *array.Int32:
		return column(a.DataType(), gather(a.Int32Values(), rows), b), nil
	case *array.Float32:
		return column(a.DataType(), gather(a.Float32Values(), rows), b), nil
	case *array.String:
		build := array.NewStringBuilder(memory.DefaultAllocator)
		for j, i := range rows {
			if b.has(j) {
				build.Append(a.Value(i))
			} else {
				build.AppendNull()
			}
		}
		return build.NewArray(), nil
	}
	return nil, fmt.Errorf("has the Arrow type %s, must be a number or text", a.DataType())
}

func gather[T number](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for j, i := range rows {
		out[j] = values[i]
	}
	return out
}

func takeBits(b bits, rows []int) bits {
	if b == nil {
		return nil
	}
	out := newBits(len(rows))
	for j, i := range rows {
		if b.has(i) {
			out = out.setPresent(j)
		}
	}
	return out
}
