package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/neighbour"
	"weir/privacy"
)

// pairing is two changes of the dataset that make neighbours: they differ in the rows of one unit.
type pairing struct {
	what        string // in words that tell no row
	key         string // of the base: equal bases have equal keys; "" is the dataset as it is
	base, other Change
	rows        []int64 // of people, counted from 1: private
	sameUnits   bool    // no unit has another name in the other table
	moved       float64 // greatest move of what a mechanism took in, as a share of what was paid for
}

// styled is how many neighbours the audit makes up of rows of nobody, where it chooses itself.
const styled = 3

// ordered returns the neighbours that are asked for.
func (s *Subject) ordered(ctx context.Context, settings Settings) ([]pairing, error) {
	units, err := s.unitsAt(ctx, settings.Places)
	if err != nil || len(settings.Others) == 0 {
		return s.eachOf(units), err
	}
	last, err := s.choose(ctx, len(reasons()))
	if err == nil && len(last) == 0 {
		err = ErrNoRows
	}
	if err != nil {
		return nil, err
	}
	return append(s.eachOf(units), s.brought(settings.Others, last)...), nil
}

// ErrNoRows is returned for a dataset that has no neighbour with a row less.
var ErrNoRows = errors.New("dataset: has no rows, must have one that a neighbour can be without")

// eachOf returns a neighbour for each unit: without it, or with other rows in its place.
func (s *Subject) eachOf(units []unit) (list []pairing) {
	for i, u := range units {
		if s.removes() {
			list = append(list, s.removed(u))
		} else {
			list = append(list, s.replaced(u, []neighbour.Style{neighbour.Low, neighbour.High}[i%2]))
		}
	}
	return list
}

// removes reports whether neighbours have a unit more or less.
func (s *Subject) removes() bool { return s.plan.Adjacency == privacy.AddRemove }

// removed returns the dataset without a unit. Where draws fall to rows by their places, the unit is put last in both
// tables, so that everyone else keeps theirs.
func (s *Subject) removed(u unit) pairing {
	p := pairing{what: "without " + u.why, other: Change{Drop: u.places}, rows: counted(u.places), sameUnits: true}
	if s.drawsByPlace() {
		p.base, p.key = Change{Drop: u.places, Add: u.rows}, fmt.Sprint("last ", u.places)
	}
	return p
}

// drawsByPlace reports whether a stage draws for rows by their places.
func (s *Subject) drawsByPlace() bool {
	for i := range s.plan.Steps {
		step := &s.plan.Steps[i]
		parts := 0 // of private rows, which draws tell apart, public ones too
		for _, h := range step.Work.Out {
			if h.Form == pipeline.FormTable && h.Class == pipeline.Private {
				parts++
			}
		}
		if parts > 1 || step.Work.Secret || slices.ContainsFunc(step.Spends, func(p pipeline.Planned) bool {
			return neighbour.Sampled(p.Value, s.plan.Adjacency)
		}) {
			return true
		}
	}
	return false
}

// replaced returns the dataset with other rows for the rows of a unit, which keeps its name.
func (s *Subject) replaced(u unit, style neighbour.Style) pairing {
	return pairing{what: u.why + ", replaced by " + rowOf(style), other: s.put(u, style), rows: counted(u.places),
		sameUnits: true}
}

func (s *Subject) put(u unit, style neighbour.Style) Change {
	h := s.plan.Spec.Header()
	change := Change{Put: map[int64]arrow.Record{}}
	for i, place := range u.places {
		change.Put[place] = neighbour.Row(h.Domain, h.Terms.Unit.Column, u.rows[i], style)
	}
	return change
}

// rowOf says what a row of a style holds.
func rowOf(style neighbour.Style) string {
	switch style {
	case neighbour.Low:
		return "a row at the lower ends of the domain"
	case neighbour.High:
		return "a row at the upper ends of the domain"
	case neighbour.Absent:
		return "a row that lacks what it may"
	}
	return "a row outside of its bounds"
}

// nobody returns neighbours with rows of nobody: one more at the ends of its domain where rows are added, and where
// they are replaced, rows of a unit that go from one end to the other.
func (s *Subject) nobody(u unit) (list []pairing) {
	h := s.plan.Spec.Header()
	if !s.removes() {
		end := pairing{what: u.why + ", from the lower ends of the domain to the upper ones", rows: counted(u.places),
			base: s.put(u, neighbour.Low), key: "ends", other: s.put(u, neighbour.High), sameUnits: true}
		return append(list, end, s.replaced(u, neighbour.Absent), s.replaced(u, neighbour.Outside))
	}
	unit := h.Domain.Column(h.Terms.Unit.Column)
	if unit != nil && !unit.Nullable {
		return nil // a new unit needs a name, which the domain may not have
	}
	for _, style := range []neighbour.Style{neighbour.High, neighbour.Outside, neighbour.Absent} {
		row := neighbour.Row(h.Domain, "", u.rows[0], style)
		if unit != nil {
			row = unnamed(row, unit.Name)
		}
		list = append(list, pairing{what: "with one row more: " + rowOf(style), other: Change{Add: []arrow.Record{row}},
			sameUnits: true})
	}
	return list
}

// brought returns neighbours with rows that the owner brings: each record is one unit, which is added or takes the
// place of the last one.
func (s *Subject) brought(others []arrow.Record, units []unit) (list []pairing) {
	for _, rows := range others {
		p := pairing{what: "with rows that were given", other: Change{Add: []arrow.Record{rows}}}
		if !s.removes() {
			u := last(units)
			p.other.Drop = u.places
			if len(u.places) == 1 && rows.NumRows() == 1 {
				p.other = Change{Put: map[int64]arrow.Record{u.places[0]: rows}}
			}
		}
		list = append(list, p)
	}
	return list
}

// counted returns places as people count rows.
func counted(places []int64) (rows []int64) {
	for _, place := range places {
		rows = append(rows, place+1)
	}
	return rows
}

// unnamed returns a row without a value of a column.
func unnamed(row arrow.Record, column string) arrow.Record {
	columns := slices.Clone(row.Columns())
	for _, j := range row.Schema().FieldIndices(column) {
		columns[j] = array.MakeArrayOfNull(memory.DefaultAllocator, columns[j].DataType(), 1)
	}
	return array.NewRecord(row.Schema(), columns, 1)
}
