package runtime

import (
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/record"
)

// releasedTables lists the tables that the plan writes to release/, from their
// headers: what is publicly known of them.
func releasedTables(p *compile.Plan) []record.Table {
	tables := []record.Table{}
	for i := range p.Steps {
		s := &p.Steps[i]
		h, ok := s.Work.Out[s.First]
		if !ok || h.Form != pipeline.FormTable || h.Class == pipeline.Private || len(s.Work.Write) == 0 {
			continue
		}
		t := record.Table{Stage: s.ID, Rows: h.Rows, Columns: []record.Column{}}
		for _, c := range h.Domain.Columns {
			t.Columns = append(t.Columns, record.Column{Name: c.Name, Type: string(c.Type), Bounds: c.Bounds, Categories: c.Categories,
				Missing: c.Nullable, Source: c.Source, Doc: c.Doc})
		}
		tables = append(tables, t)
	}
	return tables
}
