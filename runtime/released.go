package runtime

import (
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/record"
)

// releasedDomain is what is publicly known of the columns that are released, so that the
// tables beside it can be read with it; of all columns where no table is released.
func (r *run) releasedDomain() *pipeline.Domain {
	d, known := &pipeline.Domain{}, map[string]bool{}
	for i := range r.plan.Steps {
		h, released := r.releasedTable(&r.plan.Steps[i])
		if !released {
			continue
		}
		for _, c := range h.Domain.Columns {
			if !known[c.Name] {
				known[c.Name] = true
				d.Columns = append(d.Columns, c)
			}
		}
	}
	if len(d.Columns) == 0 {
		return r.plan.Spec.Dataset.Columns()
	}
	r.releasedRules(d)
	return d
}

// releasedTable is the header of the table that a step writes to release/, if it does: once
// the step is done with the domain that the run came to, before that as planned.
func (r *run) releasedTable(s *compile.Step) (pipeline.Header, bool) {
	h, ok := s.Work.Out[s.First]
	if t, made := r.tables[pipeline.Ref{Stage: s.ID}]; made {
		h = t.Header
	}
	return h, ok && h.Form == pipeline.FormTable && h.Class != pipeline.Private && len(s.Work.Write) > 0
}

// releasedTables lists the tables that the plan writes to release/, from their
// headers: what is publicly known of them.
func (r *run) releasedTables() []record.Table {
	tables := []record.Table{}
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		h, released := r.releasedTable(s)
		if !released {
			continue
		}
		t := record.Table{Stage: s.ID, Rows: h.Rows, Columns: []record.Column{}, SpreadsheetSafe: r.plan.Spec.Write.SpreadsheetSafe}
		for _, c := range h.Domain.Columns {
			t.Columns = append(t.Columns, record.Column{Name: c.Name, Type: string(c.Type), Bounds: c.Bounds, Categories: c.Categories,
				Missing: c.Nullable, Source: c.Source, Doc: c.Doc})
		}
		tables = append(tables, t)
	}
	return tables
}
