package book

import (
	"errors"
	"fmt"
	"testing"

	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// TestRefusalOfABegunRun: another run may take what was left while this one runs;
// its refusal must not say that nothing was charged.
func TestRefusalOfABegunRun(t *testing.T) {
	for charges, want := range map[int]bool{0: false, 1: true} {
		over := &ledger.OverBudgetError{}
		r := &Purse{charges: make([]record.Charge, charges)}
		if err := r.asBegun(fmt.Errorf("stage: %w", over)); !errors.Is(err, ledger.ErrOverBudget) || over.Begun != want {
			t.Errorf("after %d charges: begun is %v, must be %v", charges, over.Begun, want)
		}
	}
}

// TestCapNoteNamesTheUnit where that is what became looser.
func TestCapNoteNamesTheUnit(t *testing.T) {
	entry := ledger.Entry{Cap: &ledger.Terms{Epsilon: 3, Delta: 1e-5}, Filter: &ledger.Filter{Name: "basic"}, Unit: ledger.Unit{Column: "patient", MaxRows: 4}, Adjacency: privacy.AddRemove}
	now := ledger.Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.AddRemove}
	const want = "the ledger was capped at epsilon 3 (delta 1e-05) for one patient (at most 4 rows each), add_remove; this spec says epsilon 3 (delta 1e-05) for one row, add_remove"
	if got := capNote([]ledger.Entry{entry}, &now); got != want {
		t.Errorf("the note is %q, must be %q", got, want)
	}
	now.Unit = entry.Unit
	if got := capNote([]ledger.Entry{entry}, &now); got != "" {
		t.Errorf("the same cap is noted: %q", got)
	}
}
