package main

import (
	"fmt"
	"math"

	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// balanceText says in epsilon how the cap stands; nothing where no charge names one.
func (t *totals) balanceText() string {
	b := t.balance
	if b == nil {
		return ""
	}
	cap := fmt.Sprintf("budget: epsilon %.6g at delta %g", b.Cap.Epsilon, b.Cap.Delta)
	if math.IsInf(b.Spent, 1) {
		reason := b.Reason
		if reason != "" {
			reason = ": " + reason
		}
		return fmt.Sprintf("%s; what is spent has no finite bound, nothing is left (filter %s)%s\n", cap, b.Filter, reason)
	}
	s := fmt.Sprintf("%s; spent %s; left %s (filter %s)\n", cap, record.Bound(b.Spent), privacy.Room(b.Left), b.Filter)
	more := words.Plural(b.Alike, "more charge")
	if b.Alike == ledger.MostAlike {
		more = fmt.Sprintf("%d or more charges", b.Alike)
	}
	s += fmt.Sprintf("  room for %s like that of line %d\n", more, b.Line)
	if b.Pure > 0 {
		s += fmt.Sprintf("  room for one pure release of epsilon %s\n", privacy.Room(b.Pure))
	}
	return s
}

// jsonBalance writes an infinite epsilon as null.
func (t *totals) jsonBalance() any {
	b := t.balance
	if b == nil {
		return nil
	}
	var spent any = b.Spent
	if math.IsInf(b.Spent, 1) {
		spent = nil
	}
	return map[string]any{"epsilon": b.Cap.Epsilon, "delta": b.Cap.Delta, "adjacency": b.Cap.Adjacency, "unit": b.Cap.Unit, "line": b.Line,
		"filter": b.Filter, "spent": spent, "left": b.Left, "largest_pure": b.Pure, "charges_alike": b.Alike, "reason": b.Reason}
}
