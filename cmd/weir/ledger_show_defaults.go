package main

import (
	"fmt"
	"strconv"
	"strings"

	"weir/privacy"
	"weir/privacy/ledger"
)

// commonDelta is that of the last cap. Without one it is 1e-6, unless the charges have
// deltas of their own, such as selections of categories, that leave too little of it: no
// epsilon holds at a delta below their sum, and a tenth is the part of a plan's delta that
// selections take where the spec does not say otherwise. from says which of these it is.
func commonDelta(entries []ledger.Entry) (delta float64, from string) {
	if limit, line := ledger.LastCap(entries); line > 0 {
		return limit.Delta, fmt.Sprintf("delta is that of the budget in line %d", line)
	}
	own := 0.0
	for _, e := range entries {
		own += ownDelta(e.Event.Event)
	}
	// Rounded up to two digits: a delta that people write.
	ten, _ := strconv.ParseFloat(strconv.FormatFloat(10*own, 'e', 1, 64), 64)
	if ten > 1e-6 {
		return min(ten, 1), "delta is ten times what the charges have of it for themselves; a plan reads the same ledger at the delta of its spec (--delta)"
	}
	return 1e-6, "delta is 1e-06 for want of a budget, since charges have none of their own; a plan reads the same ledger at the delta of its spec (--delta)"
}

// ownDelta is what an event has of delta for itself, whatever the delta of the total.
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

// commonAdjacency is the one under which all charges can be added up.
func commonAdjacency(entries []ledger.Entry) privacy.Adjacency {
	for _, e := range entries {
		if e.Adjacency == privacy.ReplaceOne {
			return privacy.ReplaceOne
		}
	}
	return privacy.AddRemove
}

// commonUnit is the largest unit that a charge holds for, of the first column.
func commonUnit(entries []ledger.Entry) ledger.Unit {
	var unit ledger.Unit
	for _, e := range entries {
		if unit.Column == "" || e.Unit.Column == unit.Column && e.Unit.MaxRows > unit.MaxRows {
			unit = e.Unit
		}
	}
	return unit
}

func parseUnit(text string) (ledger.Unit, error) {
	if text == "row" {
		return ledger.Unit{}, nil
	}
	i := strings.LastIndex(text, ":")
	if i > 0 {
		if n, err := strconv.Atoi(text[i+1:]); err == nil && n >= 1 {
			return ledger.Unit{Column: text[:i], MaxRows: n}, nil
		}
	}
	return ledger.Unit{}, fmt.Errorf("unit: is %q, must be row or COLUMN:MAX_ROWS, such as patient_id:4", text)
}
