package prep

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// Filter keeps the rows for which a formula is true.
type Filter struct {
	Keep    string `yaml:"keep" json:"keep" required:"true" doc:"Formula over the columns of a row, such as age >= 18 and cholesterol in [\"1\", \"2\"]; rows where it is true stay."`
	Missing string `yaml:"missing" json:"missing" enum:"drop|keep|error" doc:"What becomes of a row where a value that the formula names is missing; missing(column) asks without being missing itself."`
}

func filterKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "filter", Version: 1, In: tableIn(), Out: tableOut("the rows that are kept"),
		Doc: "Keeps the rows for which a public formula is true. Use it to restrict a table to a declared population. Works row by row, so " +
			"stability stays as it is, but the row count of a private table is private afterwards.",
		New: func() pipeline.Stage { return &Filter{Missing: "drop"} },
	}
}

func (s *Filter) plan(h pipeline.Header) (pipeline.Header, *expression, error) {
	var ps pipeline.Problems
	e := compile(&ps, "keep", s.Keep, h.Domain, reflect.Bool)
	if e != nil && e.divides {
		ps.Add("keep", "a formula with a division or power, which may have no value", "written with products")
	}
	h.Rows = 0
	return h, e, ps.Err()
}

// Plan implements pipeline.Stage.
func (s *Filter) Plan(in pipeline.Headers) (pipeline.Outline, error) {
	h, _, err := s.plan(in["in"])
	o := pipeline.Outline{Out: pipeline.Headers{"out": h}, Lazy: true}
	if s.Missing == "error" && h.Class == pipeline.Private {
		o.Findings = []pipeline.Finding{{Rule: "W30", Level: pipeline.LevelNote,
			Message: "whether the run ends with an error depends on private values", Fix: "missing: drop or missing: keep"}}
	}
	return o, err
}

// Run implements pipeline.Stage.
func (s *Filter) Run(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	t := in["in"]
	h, e, err := s.plan(t.Header)
	if err != nil {
		return nil, err
	}
	open := filterRows(t, func(r arrow.Record) ([]int, error) { return s.pick(e, r) })
	return pipeline.Tables{"out": {Header: h, Open: open}}, nil
}

func (s *Filter) pick(e *expression, r arrow.Record) ([]int, error) {
	v, err := e.evaluator(r)
	if err != nil {
		return nil, err
	}
	var rows []int
	for i := range int(r.NumRows()) {
		keep, err := v.row(i)
		if err != nil {
			return nil, fmt.Errorf("keep: %w", err)
		}
		if keep == nil && s.Missing == "error" {
			return nil, fmt.Errorf("keep: a value that the formula names is missing in some row")
		}
		if keep == true || keep == nil && s.Missing == "keep" {
			rows = append(rows, i)
		}
	}
	return rows, nil
}
