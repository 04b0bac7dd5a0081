package pipelinetest

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/neighbour"
	"weir/privacy"
)

// stabilityFaults holds the change of each private output table against its header.
func stabilityFaults(n couple, before, current outcome) []string {
	var faults []string
	for port, h := range before.work.Out {
		if h.Form != pipeline.FormTable || h.Class != pipeline.Private || before.records[port] == nil ||
			current.records[port] == nil {
			continue
		}
		fault := neighbour.StabilityFault(h, n.base.adjacency(), neighbour.RowsOf(before.records[port]),
			neighbour.RowsOf(current.records[port]))
		if fault == "" && h.Stability.Spread == pipeline.SpreadRows {
			fault = ownRowsFault(n, h, before, current, port)
		}
		faults = appendFault(faults, port, fault)
	}
	return faults
}

func appendFault(faults []string, port, fault string) []string {
	if fault == "" {
		return faults
	}
	return append(faults, "output "+port+": "+fault)
}

// ownRowsFault: the rows that change belong to the units that changed.
func ownRowsFault(n couple, h pipeline.Header, before, current outcome, port string) string {
	unit := h.Terms.Unit.Column
	c := h.Domain.Column(unit)
	if !h.OwnRows || c == nil || !c.OfUnit {
		return ""
	}
	units := changedUnits(n, unit)
	for _, o := range []struct {
		r    arrow.Record
		rows []int
	}{{before.records[port], lost(before.records[port], current.records[port])},
		{current.records[port], lost(current.records[port], before.records[port])}} {
		of := textsOf(o.r, unit)
		for _, row := range o.rows {
			if !units[of[row]] {
				return "a row changes that is of no unit that changed, its header has OwnRows"
			}
		}
	}
	return ""
}

// lost lists the rows of a table that another one lacks.
func lost(a, b arrow.Record) []int { return neighbour.RowsOf(a).Missing(neighbour.RowsOf(b)) }

// changedUnits returns the units whose rows differ between the inputs.
func changedUnits(n couple, unit string) map[string]bool {
	units := map[string]bool{}
	for _, port := range n.base.tablePorts() {
		a, b := n.base.In[port].Rows, n.other.In[port].Rows
		gone, come := lost(a, b), lost(b, a)
		for r, rows := range map[arrow.Record][]int{a: gone, b: come} {
			if of := textsOf(r, unit); of != nil {
				for _, row := range rows {
					units[of[row]] = true
				}
			}
		}
	}
	return units
}

// textsOf returns the values of a column; nil where there is none.
func textsOf(r arrow.Record, column string) []string {
	places := r.Schema().FieldIndices(column)
	if len(places) == 0 {
		return nil
	}
	list := make([]string, r.NumRows())
	for i := range list {
		list[i] = r.Column(places[0]).ValueStr(i)
	}
	return list
}

// checkUnits checks that with each column in turn as the name of the privacy unit, a column
// that a stage hands on as one of the unit (Column.OfUnit) has one value for all rows
// of a unit. Only stages that keep all rows can be held to it.
func checkUnits(t reporter, c Case) {
	if !givesTable(c.kind) {
		return
	}
	for _, port := range c.tablePorts() {
		if c.In[port].Header.Class != pipeline.Private {
			continue
		}
		for i := range c.In[port].Header.Domain.Columns {
			checkUnit(t, c, port, i)
		}
	}
}

func givesTable(k *pipeline.Kind) bool {
	return slices.ContainsFunc(k.Out, func(p pipeline.Port) bool { return p.Form == pipeline.FormTable })
}

func checkUnit(t reporter, c Case, port string, column int) {
	c = c.unitOf(port, column)
	if work, _, err := c.planned(); err != nil || len(work.Spends) > 0 {
		return // no such unit can be planned
	}
	o := observe(context.Background(), c, manner{key: 1})
	units := texts(c.In[port], c.In[port].Header.Terms.Unit.Column)
	for out, r := range o.records {
		if h := o.work.Out[out]; h.Form == pipeline.FormTable && int(r.NumRows()) == len(units) {
			for _, subject := range h.Domain.Columns {
				if subject.OfUnit && !function(units, textsOf(r, subject.Name)) {
					t.Errorf("output %s: column %s is said to be one of the privacy unit %s, and rows of one unit differ in it", out,
						subject.Name, c.In[port].Header.Terms.Unit.Column)
				}
			}
		}
	}
}

// function reports whether equal keys have equal values.
func function(keys, values []string) bool {
	seen := map[string]string{}
	for i, k := range keys {
		if v, ok := seen[k]; ok && v != values[i] {
			return false
		}
		seen[k] = values[i]
	}
	return true
}

// unitOf returns the case with a column of a table for its privacy unit. Neighbouring rows
// are made one unit, so that units have several rows whatever the column holds.
func (c Case) unitOf(port string, column int) Case {
	in := c.In[port]
	lines := keepAll(int(in.Rows.NumRows()))
	in.Header.Domain = in.Header.Domain.Clone()
	for i := range in.Header.Domain.Columns {
		in.Header.Domain.Columns[i].OfUnit = i == column
	}
	of := &in.Header.Domain.Columns[column]
	in.Header.Terms = pipeline.Terms{Adjacency: privacy.AddRemove, Claims: in.Header.Terms.Claims,
		Unit: pipeline.Unit{Column: of.Name, MaxRows: len(lines)}}
	if in.Header.Stability.Spread == pipeline.SpreadRows {
		in.Header.Stability = pipeline.Rows(len(lines))
	}
	in.Rows = paired(in.Rows, column)
	c = c.withRows(port, in.Rows)
	c.In[port] = in
	return c
}

// paired gives every second row the unit of the one before.
func paired(r arrow.Record, column int) arrow.Record {
	columns := slices.Clone(r.Columns())
	columns[column] = doubled(columns[column])
	return newRecord(r, columns)
}
