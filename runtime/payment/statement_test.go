package payment

import (
	"errors"
	"fmt"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// TestChargesSayWhose: a bill over several specs names a charge by run and spec, and the stage once where
// its spend has the stage's name.
func TestChargesSayWhose(t *testing.T) {
	p := &compile.Plan{Plan: &pipeline.Plan{}, Spec: &spec.Spec{Name: "study"}}
	s := &compile.Step{Step: &pipeline.Step{ID: "train", Spends: []pipeline.Planned{{Line: privacy.Line{Name: "train"}},
		{Line: privacy.Line{Name: "sizes"}}}}}
	list := charges(130, p, s)
	if len(list) != 2 || list[0].ID != "run 131 (study), train" || list[1].ID != "run 131 (study), train/sizes" {
		t.Errorf("%+v", list)
	}
}

// TestRefusalOfABegunRun: another run may take what was left while this one runs;
// its refusal must not say that nothing was charged.
func TestRefusalOfABegunRun(t *testing.T) {
	for charges, want := range map[int]bool{0: false, 1: true} {
		loosened := &ledger.OverBudgetError{}
		r := &Purse{charges: make([]record.Charge, charges)}
		if err := r.asBegun(fmt.Errorf("stage: %w", loosened)); !errors.Is(err, ledger.ErrOverBudget) ||
			loosened.Begun != want {
			t.Errorf("after %d charges: begun is %v, must be %v", charges, loosened.Begun, want)
		}
	}
}

// TestCapNoteNamesTheUnit where that is what became looser.
func TestCapNoteNamesTheUnit(t *testing.T) {
	entry := ledger.Entry{Cap: &ledger.CapTerms{Epsilon: 3, Delta: 1e-5}, Filter: &ledger.Filter{Name: "basic"},
		Unit: ledger.Unit{Column: "patient", MaxRows: 4}, Adjacency: privacy.AddRemove}
	current := ledger.Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.AddRemove}
	const want = "the ledger was capped at epsilon 3 (delta 1e-05) for one patient (at most 4 rows each), add_remove; " +
		"this spec says epsilon 3 (delta 1e-05) for one row, add_remove"
	if got := capNote([]ledger.Entry{entry}, &current); got != want {
		t.Errorf("the note is %q, must be %q", got, want)
	}
	current.Unit = entry.Unit
	if got := capNote([]ledger.Entry{entry}, &current); got != "" {
		t.Errorf("the same cap is noted: %q", got)
	}
}
