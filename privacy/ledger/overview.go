package ledger

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/privacy"
)

// Measure says how the charges of a ledger are added up; what it leaves open follows from the charges.
type Measure struct {
	Accountant privacy.Accountant
	Adjacency  privacy.Adjacency // "": replace_one if any charge is, else add_remove
	Unit       *Unit             // nil: the column that any charge holds for, with its most rows, else a row
	Delta      *float64          // nil: the delta of the last cap, else from the charges
}

// Overview is what charges add up to: as a plan fixed in advance and, if a charge names a budget, by its filter.
type Overview struct {
	Fixed     Total
	DeltaFrom string  // why both totals are read at their delta; "" where the question says it
	Filter    *Filter // nil where no charge names a budget
	Line      int     // that fixed the filter
	Filtered  Total
	Balance   *Balance // of the last cap; nil where there is none, or nothing bounds what is spent
}

// Look adds charges up. It errs where the accountant has no bound for a charge (privacy.ErrUnsupported); why the filter
// has none stands in the reason of its total, because the other total is still worth having.
func Look(entries []Entry, q Measure) (o Overview, err error) {
	delta := 0.0
	if q.Delta != nil {
		delta = *q.Delta
	} else {
		delta, o.DeltaFrom = commonDelta(entries)
	}
	adjacency, unit := q.Adjacency, commonUnit(entries)
	if adjacency == "" {
		adjacency = commonAdjacency(entries)
	}
	if q.Unit != nil {
		unit = *q.Unit
	}
	if o.Fixed, err = Sum(entries, q.Accountant, adjacency, unit, delta); err != nil {
		return o, err
	}
	o.addFilter(entries, adjacency, unit, delta)
	o.Balance, _ = BalanceOf(entries) // why it has none, the filter's total says
	return o, nil
}

// addFilter sets the total of the cap's filter; why it has none stands in its
// reason, because the other total is still worth printing.
func (o *Overview) addFilter(entries []Entry, adjacency privacy.Adjacency, unit Unit, delta float64) {
	filter, line, err := FilterOf(entries)
	if err == nil && filter == nil {
		return
	}
	o.Filter, o.Line = &Filter{Name: "none"}, line
	if err == nil {
		o.Filter = filter
		o.Filtered, err = SumFilter(entries, *filter, adjacency, unit, delta)
	}
	if err != nil {
		o.Filtered = Total{Epsilon: math.Inf(1), Delta: delta, Reason: err.Error()}
	}
}

// commonDelta returns the delta of the last cap. Without one it is 1e-6, unless the charges have
// deltas of their own, such as selections of categories, that leave too little of it: no
// epsilon holds at a delta below their sum, and a tenth is the part of a plan's delta that
// selections take where the spec does not say otherwise. from says which of these it is.
func commonDelta(entries []Entry) (delta float64, from string) {
	if limit, line := LastCap(entries); line > 0 {
		return limit.Delta, fmt.Sprintf("delta is that of the budget in line %d", line)
	}
	deltas := 0.0
	for _, e := range entries {
		deltas += ownDelta(e.Event.Event)
	}
	// Rounded up to two digits: a delta that people write.
	ten, _ := strconv.ParseFloat(strconv.FormatFloat(10*deltas, 'e', 1, 64), 64)
	if ten > 1e-6 {
		return min(ten, 1), "delta is ten times what the charges have of it for themselves; a plan reads the same ledger " +
			"at the delta of its spec (--delta)"
	}
	return 1e-6, "delta is 1e-06 for want of a budget, since charges have none of their own; a plan reads the same " +
		"ledger at the delta of its spec (--delta)"
}

// ownDelta returns what an event has of delta for itself, whatever the delta of the total.
func ownDelta(e privacy.Event) float64 {
	switch e := e.(type) {
	case privacy.Approximate:
		return e.Delta
	case privacy.Repeated:
		return float64(e.Count) * ownDelta(e.Event)
	case privacy.Composed:
		sum := 0.0
		for _, part := range e.Events {
			sum += ownDelta(part)
		}
		return sum
	}
	return 0
}

// commonAdjacency returns the one under which all charges can be added up.
func commonAdjacency(entries []Entry) privacy.Adjacency {
	for _, e := range entries {
		if e.Adjacency == privacy.ReplaceOne {
			return privacy.ReplaceOne
		}
	}
	return privacy.AddRemove
}

// commonUnit returns the largest unit that a charge holds for, of the first column.
func commonUnit(entries []Entry) Unit {
	var unit Unit
	for _, e := range entries {
		if unit.Column == "" || e.Unit.Column == unit.Column && e.Unit.MaxRows > unit.MaxRows {
			unit = e.Unit
		}
	}
	return unit
}

// ParseUnit reads row, or COLUMN:MAX_ROWS.
func ParseUnit(text string) (Unit, error) {
	if text == "row" {
		return Unit{}, nil
	}
	i := strings.LastIndex(text, ":")
	if i > 0 {
		if n, err := strconv.Atoi(text[i+1:]); err == nil && n >= 1 {
			return Unit{Column: text[:i], MaxRows: n}, nil
		}
	}
	return Unit{}, fmt.Errorf("unit: is %q, must be row or COLUMN:MAX_ROWS, such as patient_id:4", text)
}
