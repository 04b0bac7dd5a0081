package ledger

import (
	"fmt"
	"slices"

	"weir/privacy"
)

// reading says whose change is asked for. The table and its argument are in
// docs/design/ledger.md, "Units and adjacencies".
type reading struct {
	unit  Unit
	asked privacy.Adjacency
	pairs privacy.Adjacency // that the events are accounted under
}

// newReading asks for a change of unit under the adjacency. A row that comes or
// goes may exchange what a person contributes, so with charges for persons all
// are accounted for an exchange, which bounds a removal.
func newReading(entries []Entry, adjacency privacy.Adjacency, unit Unit) (reading, error) {
	r := reading{unit, adjacency, adjacency}
	if _, err := privacy.ParseAdjacency(string(adjacency)); err != nil {
		return r, err
	}
	persons := slices.ContainsFunc(entries, func(e Entry) bool { return e.Unit.Column != "" })
	if unit.Column == "" && persons {
		r.pairs = privacy.ReplaceOne
	}
	return r, unit.valid()
}

// event returns what e costs the unit asked for, as an event under r.pairs, or why
// nothing is known.
func (r reading) event(e Entry) (event privacy.Event, why string) {
	event = e.Event.Event
	n, why := r.changed(e)
	switch {
	case event == nil || e.Unproven != "":
		return nil, "has no proven bound: " + e.Unproven
	case e.Adjacency == privacy.ReplaceOne && r.asked == privacy.AddRemove:
		return nil, "holds under replace_one, from which nothing follows under add_remove"
	case why != "":
		return nil, why
	case r.crosses(e) && fixedSize(event):
		return nil, "samples a fixed number of rows, for which nothing is proven where the row count changes"
	}
	event, err := privacy.Group(event, n)
	if err == nil && e.Adjacency != r.pairs {
		event, err = privacy.Exchanged(event)
	}
	if err != nil {
		return nil, err.Error()
	}
	return event, ""
}

// changed is how many of the units that e was charged for change with the one
// asked for, or why that is not known.
func (r reading) changed(e Entry) (n int, why string) {
	charged, asked := e.Unit.Column, r.unit.Column
	switch {
	case charged == asked:
		return 1, "" // whatever the number of rows: its run kept no more than it charged for
	case charged != "" && asked != "":
		return 0, fmt.Sprintf("holds for one %s, from which nothing follows for one %s", charged, asked)
	case asked != "" && e.Adjacency == privacy.ReplaceOne && r.unit.MaxRows > 1:
		return 0, fmt.Sprintf("holds for rows exchanged, which keeps their number; one %s may have more rows than another", asked)
	case asked != "":
		return r.unit.MaxRows, ""
	case e.Adjacency == privacy.ReplaceOne:
		return 0, fmt.Sprintf("holds for one %s exchanged, which keeps their number; a row may be the only one of its %s", charged, charged)
	case r.asked == privacy.ReplaceOne:
		return 2, "" // the old row's person loses it, the new row's gains it
	}
	return 1, ""
}

// crosses reports whether e is read for another kind of change than it states,
// beyond an exchange of the same unit.
func (r reading) crosses(e Entry) bool {
	return e.Unit.Column != r.unit.Column && e.Adjacency == privacy.AddRemove || r.pairs != r.asked
}

// fixedSize reports whether e samples without replacement anywhere.
func fixedSize(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.SampledWithoutReplacement:
		return true
	case privacy.PoissonSampled:
		return fixedSize(e.Event)
	case privacy.Repeated:
		return fixedSize(e.Event)
	case privacy.Composed:
		return slices.ContainsFunc(e.Events, fixedSize)
	case privacy.Parallel:
		return slices.ContainsFunc(e.Events, fixedSize)
	}
	return false
}

// notes says how charges for another unit or adjacency were counted.
func (r reading) notes(e Entry) []string {
	var out []string
	if e.Adjacency != r.pairs {
		out = append(out, "charges made under add_remove are counted as exchanges")
	}
	switch {
	case e.Unit.Column == r.unit.Column:
	case e.Unit.Column == "":
		out = append(out, fmt.Sprintf("charges for rows are counted for %d rows, which must be all that the table holds of one %s", r.unit.MaxRows, r.unit.Column))
	default:
		out = append(out, fmt.Sprintf("charges for one %s are counted for a row as an exchange of its %s", e.Unit.Column, e.Unit.Column))
	}
	return out
}
