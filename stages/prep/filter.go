package prep

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/relation"
	"weir/schema"
)

// Filter keeps the rows for which a formula is true.
type Filter struct {
	Keep    string `yaml:"keep" json:"keep" required:"true" doc:"Formula over the columns of a row, such as age >= 18 and cholesterol in [\"1\", \"2\"]; rows for which it is true are kept."`
	Missing string `yaml:"missing" json:"missing" enum:"drop|keep|error" doc:"How rows are handled in which a value that the formula uses is missing; missing(column) tests for that without being missing itself. error stops the run and is refused on a private table."`
}

func filterKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "filter", Version: 2, Late: true, In: tableIn(), Out: tableOut("the rows that are kept"),
		Doc: "Keeps the rows for which a public formula is true. Use it to restrict a table to a declared population. Works row by row, so " +
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
			return nil, errors.New("keep: a value that the formula uses is missing in some row")
		}
		if keep == true || keep == nil && s.Missing == "keep" {
			rows = append(rows, i)
		}
	}
	return rows, nil
}
