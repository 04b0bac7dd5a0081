package prep

import (
	"weir/pipeline"
	"weir/schema"
)

// Select keeps the named columns, in the order given.
type Select struct {
	Columns []string `yaml:"columns" json:"columns" required:"true" format:"columns" minItems:"1" doc:"Columns to keep, in this order."`
}

func selectKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "select", Version: 1, Late: true, In: tableIn(), Out: tableOut("the table with these columns only"),
		Doc: "Keeps the named columns, in the order given. Use it to leave out identifiers and whatever the synthetic table need not have: " +
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
	gone := map[int]bool{}
	for _, i := range h.Domain.Pick(&ps, "columns", s.Columns) {
		gone[i] = true
	}
	var kept []int
	for i := range h.Domain.Columns {
		if !gone[i] {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		ps.Add("columns", "every column of the table", "fewer, so that a column remains")
	}
	return subset(h, kept), ps.Err()
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
