package payment

import (
	"path/filepath"
	"testing"

	"weir/runtime/store"
)

// TestRunsOfOneRecipeShareACharge: runs that have not begun are charged once for what they have alike, unless they draw
// new noise; the budget is asked for all of them together. Epsilon 1 each is planOf's.
func TestRunsOfOneRecipeShareACharge(t *testing.T) {
	for name, c := range map[string]struct {
		second string // its recipe
		fresh  bool
		bill   int
		from   string // whose charge the second run has
	}{
		"alike":            {trained, false, 1, "run-1"},
		"alike, but fresh": {trained, true, 2, ""},
		"unlike":           {"sha256:fedcba98765432100123", false, 2, ""},
	} {
		plan, path := planOf(2), filepath.Join(t.TempDir(), "l.jsonl")
		var tasks []*Task
		for _, recipe := range []string{trained, c.second} {
			tasks = append(tasks, &Task{Plan: plan, Dataset: ds(), Recipes: map[string]string{"train": recipe}, Fresh: c.fresh})
		}
		q, err := opened(t, plan, path).Quote(t.Context(), tasks)
		if err != nil || q.Bill != c.bill || len(q.Dues) != 2 || q.Dues[0].From != "" || q.Dues[1].From != c.from {
			t.Errorf("%s: %+v, %v; must be %d new charges, the second from %q", name, q, err, c.bill, c.from)
		}
		if lines(t, path) != 0 {
			t.Errorf("%s: a quote has charged", name)
		}
	}
}

// TestOutputIsUsedAgainWhereItsChargeStands: a note of an earlier run saves a charge only where the ledger holds that
// run's charge and what it made is stored: else the run pays itself.
func TestOutputIsUsedAgainWhereItsChargeStands(t *testing.T) {
	for name, c := range map[string]struct {
		charged, stored bool
		bill            int
	}{
		"charged and stored": {true, true, 0},
		"never charged":      {false, true, 1},
		"no longer stored":   {true, false, 1},
	} {
		plan, path := planOf(2), filepath.Join(t.TempDir(), "l.jsonl")
		b := opened(t, plan, path)
		if c.charged {
			if err := purse(b, plan, "first").PayAll(&plan.Steps[0]); err != nil {
				t.Fatal(err)
			}
		}
		const address = "sha256:5555555555555555555555555555555555555555555555555555555555555555"
		note := Note{Run: "first", Name: "study", Stage: "train", Address: address}
		if err := b.notes().Write(trained, note); err != nil {
			t.Fatal(err)
		}
		if c.stored {
			manifest := filepath.Join(b.cache().Dir, address[len("sha256:"):], "manifest.json")
			if err := b.place.Disk.WriteBytes(manifest, 0o600, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		q, err := b.Quote(t.Context(), []*Task{{Plan: plan, Dataset: ds(), Recipes: map[string]string{"train": trained}}})
		if err != nil || q.Bill != c.bill {
			t.Errorf("%s: %d new charges, %v; must be %d", name, q.Bill, err, c.bill)
		}
	}
}

// TestChargesOfOtherNoiseAreOthers: a run that is continued on other inputs than its charge stands on is refused before
// it draws; on the same it goes on.
func TestChargesOfOtherNoiseAreOthers(t *testing.T) {
	plan, path := planOf(2), filepath.Join(t.TempDir(), "l.jsonl")
	dir := store.RunDir{Path: t.TempDir()}
	b := opened(t, plan, path)
	p := NewPurse(b, &Task{Plan: plan, Dataset: ds(), Recipes: map[string]string{"train": trained}},
		Attempt{ID: "r", Dir: dir})
	step := &plan.Steps[0]
	p.addresses["train"] = "sha256:1"
	if err := p.keepBasis(step); err != nil {
		t.Fatal(err)
	}
	if err := p.PayAll(step); err != nil {
		t.Fatal(err)
	}
	if err := p.checkBasis(step, "sha256:1"); err != nil {
		t.Errorf("on the same inputs: %v", err)
	}
	if err := p.checkBasis(step, "sha256:2"); err == nil {
		t.Error("on other inputs the run goes on, and must be refused")
	}
	if charges, _ := p.Paid(); len(charges) != 1 || charges[0].Ledger == "" {
		t.Errorf("%+v, must be one charge of the ledger", charges)
	}
}
