package runtime

import (
	"maps"
	"reflect"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/record"
)

// releasedDomains are what is publicly known of the columns of the tables that are
// released, by file name, so that each can be read with it: domain.yaml is that of the
// first synthetic table, else of the first table; a table of other columns has one under
// its own name. Where no table is released it is that of the source.
func (r *run) releasedDomains() map[string]*domain.Domain {
	domains, main := map[string]*domain.Domain{}, -1
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		h, released := r.releasedTable(step)
		if !released {
			continue
		}
		if main < 0 || step.Draws && !r.plan.Steps[main].Draws {
			main = i
		}
		domains[r.marked(step.ID)+"."+domainFile] = openDomain(h)
	}
	if main < 0 {
		return map[string]*domain.Domain{domainFile: r.plan.Spec.Dataset.Columns()}
	}
	own := r.marked(r.plan.Steps[main].ID) + "." + domainFile
	first := domains[own]
	maps.DeleteFunc(domains, func(_ string, d *domain.Domain) bool {
		return reflect.DeepEqual(d.Columns, first.Columns) && reflect.DeepEqual(d.Constraints, first.Constraints)
	})
	domains[domainFile] = first
	return domains
}

const domainFile = "domain.yaml"

// openDomain is the domain of a table as its file has it, without how it was made.
func openDomain(h pipeline.Header) *domain.Domain {
	d := &domain.Domain{Columns: slices.Clone(h.Domain.Columns), Constraints: h.Domain.Constraints}
	for i := range d.Columns {
		c := &d.Columns[i]
		c.Missing = c.Apart(c.Missing)
	}
	return d
}

// releasedTable is the header of the table that a step writes to release/, if it does: once
// the step is done with the domain that the run came to, before that as planned.
func (r *run) releasedTable(s *compile.Step) (pipeline.Header, bool) {
	h, ok := s.Work.Out[s.First]
	if t, made := r.tables[pipeline.Ref{Stage: s.ID}]; made {
		h = t.Header
	}
	return h, ok && h.Form == pipeline.FormTable && h.Class != pipeline.Private && (len(s.Work.Write) > 0 || s.Work.Send != nil)
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
			t.Columns = append(t.Columns, record.Column{Name: c.Name, Type: string(c.Type), Format: c.Format, Zone: c.Zone, Bounds: c.Bounds, Categories: c.Categories,
				Missing: c.Nullable, Source: c.Source, Doc: c.Doc})
		}
		tables = append(tables, t)
	}
	return tables
}
