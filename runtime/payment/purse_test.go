package payment

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// planOf charges epsilon 1 once, in a stage named train, with a cap of epsilon cap.
func planOf(cap float64) *compile.Plan {
	p := &compile.Plan{Plan: &pipeline.Plan{Digest: "sha256:spec", Adjacency: privacy.AddRemove, Budget: 1},
		Spec: &spec.Spec{},
		Steps: []compile.Step{
			{Step: &pipeline.Step{ID: "train", Spends: []pipeline.Planned{{Line: privacy.Line{Name: "counts"},
				Event: privacy.JSON{Event: privacy.Pure{Epsilon: 1}}}}}}}}
	p.Dataset.Budget = &pipeline.Budget{Epsilon: cap, Delta: 1e-6, Filter: "basic"}
	return p
}

const trained = "sha256:0123456789abcdef0123"

func ds() Dataset { return Dataset{ID: "ds-1", Version: "1"} }

// purse returns the purse of a run whose stage train is of the recipe trained and stands on no noise.
func purse(b *Book, p *compile.Plan, run string) *Purse { return purseOf(b, p, run, trained, "") }

// purseOf returns the purse of a run whose stage train is of a recipe and stands on the noise of a paid stage of the
// recipe before; "" is none.
func purseOf(b *Book, p *compile.Plan, run, recipe, before string) *Purse {
	recipes := map[string]string{"train": recipe}
	if before != "" {
		longer := *p
		longer.Steps = append([]compile.Step{}, p.Steps...)
		longer.Steps[0].Step = &pipeline.Step{ID: "train", Spends: p.Steps[0].Spends,
			Inputs: map[string][]pipeline.Ref{"in": {{Stage: "before"}}}}
		longer.Steps = append(longer.Steps, compile.Step{Step: &pipeline.Step{ID: "before", Spends: p.Steps[0].Spends}})
		p, recipes["before"] = &longer, before
	}
	return NewPurse(b, &Task{Plan: p, Dataset: ds(), Recipes: recipes}, Attempt{ID: run})
}

func opened(t *testing.T, p *compile.Plan, path string) *Book {
	t.Helper()
	b, err := Open(p, ds(), Place{Asked: path, Out: t.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lines(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// TestCapHoldsSideBySide: whatever runs at the same time, each with a ledger of its own
// open and each having found enough left, the charges stay within the cap.
func TestCapHoldsSideBySide(t *testing.T) {
	plan, path := planOf(3), filepath.Join(t.TempDir(), "l.jsonl")
	purses := make([]*Purse, 8)
	for i := range purses {
		purses[i] = purse(opened(t, plan, path), plan, fmt.Sprint("run", i))
		if err := purses[i].Afford(); err != nil {
			t.Fatal(err)
		}
	}
	errs := make([]error, len(purses))
	var all sync.WaitGroup
	for i, p := range purses {
		all.Go(func() { errs[i] = p.PayAll(&plan.Steps[0]) })
	}
	all.Wait()
	paid := 0
	for i, err := range errs {
		charges, head := purses[i].Paid()
		if err == nil {
			paid++
		} else if !errors.Is(err, ledger.ErrOverBudget) || len(charges) > 0 || head.Count > 0 {
			t.Errorf("run %d: %v with %d charges, must be over the budget with none", i, err, len(charges))
		}
	}
	if paid != 3 || lines(t, path) != 3 {
		t.Errorf("%d runs paid and the ledger has %d lines, must be 3: epsilon 3 admits three times 1", paid, lines(t, path))
	}
	if err := purse(opened(t, plan, path), plan, "late").Afford(); !errors.Is(err, ledger.ErrOverBudget) {
		t.Errorf("a later run: %v, must be refused before it begins", err)
	}
}

// TestResumedRunPaysOnce: the same run, stage, mechanism and recipe is one charge; another
// recipe, or the same one on the noise of another run, draws other noise and is another.
func TestResumedRunPaysOnce(t *testing.T) {
	plan, path := planOf(3), filepath.Join(t.TempDir(), "l.jsonl")
	for i, c := range []struct {
		run, recipe, before string
		lines               int
		begun, charged      bool // by then
		refused             bool
	}{
		{"r", trained, "", 1, false, false, false},
		{"r", trained, "", 1, true, true, false},
		{"r", "sha256:fedcba98765432100123", "", 2, false, false, false},
		{"r", trained, "noise of another", 3, true, false, false},
		{"r", trained, "noise of another", 3, true, true, false},
		{"other", trained, "", 3, false, false, true},
	} {
		p := purseOf(opened(t, plan, path), plan, c.run, c.recipe, c.before)
		step := &p.task.Plan.Steps[0]
		ours, err := p.hasBegun(step)
		charged, drawn := p.charged(c.run, step), p.hasDrawn(step)
		if err != nil || ours != c.begun || drawn != ours || charged != c.charged {
			t.Errorf("%d: begun %v, drawn %v, charged %v, %v", i, ours, drawn, charged, err)
		}
		err = p.PayAll(step)
		if errors.Is(err, ledger.ErrOverBudget) != c.refused || err != nil && !c.refused || lines(t, path) != c.lines {
			t.Errorf("%d: %v, %d lines; must be %d", i, err, lines(t, path), c.lines)
		}
		if charges, head := p.Paid(); !c.refused && (len(charges) != 1 || charges[0].Ledger == "" ||
			int(head.Count) != c.lines) {
			t.Errorf("%d: noted %+v and %+v, must be one charge of %d lines", i, charges, head, c.lines)
		}
	}
}

// TestBillOfAResumedRun leaves out what it has paid, and nothing that another has, or that it
// has paid for another computation.
func TestBillOfAResumedRun(t *testing.T) {
	plan, path := planOf(1), filepath.Join(t.TempDir(), "l.jsonl")
	p := purse(opened(t, plan, path), plan, "r")
	if err := errors.Join(p.Afford(), p.PayAll(&plan.Steps[0])); err != nil {
		t.Fatal(err)
	}
	if err := purse(opened(t, plan, path), plan, "r").Afford(); err != nil {
		t.Errorf("the run that paid: %v, must go on", err)
	}
	for what, changed := range map[string]*Purse{
		"with another recipe":     purseOf(opened(t, plan, path), plan, "r", "sha256:fedcba98765432100123", ""),
		"on the noise of another": purseOf(opened(t, plan, path), plan, "r", trained, "noise of another"),
	} {
		if err := changed.Afford(); !errors.Is(err, ledger.ErrOverBudget) {
			t.Errorf("the run that paid, %s: %v, must be refused", what, err)
		}
	}
	if err := purse(opened(t, plan, path), plan, "s").Afford(); !errors.Is(err, ledger.ErrOverBudget) {
		t.Errorf("another run: %v, must be refused", err)
	}
	both := opened(t, plan, path)
	if err := both.Afford(purse(both, plan, "r"), purse(both, plan, "s")); !errors.Is(err, ledger.ErrOverBudget) {
		t.Errorf("both together: %v, must be refused", err)
	}
}

// TestRestoreWritesWhatIsMissing, under the id that it had, and nothing twice.
func TestRestoreWritesWhatIsMissing(t *testing.T) {
	plan, path := planOf(1), filepath.Join(t.TempDir(), "l.jsonl")
	charge := record.Charge{Stage: "train", Name: "counts", ID: "r/train/counts/0123",
		Event: plan.Steps[0].Spends[0].Event}
	for _, want := range []int{1, 0} {
		written, err := opened(t, plan, path).Restore(&Task{Plan: plan, Dataset: ds()},
			&record.Run{ID: "r", Charges: []record.Charge{charge}})
		if err != nil || len(written) != want || lines(t, path) != 1 {
			t.Errorf("%v, %v, must write %d", written, err, want)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := ledger.Parse(text); err != nil || len(entries) != 1 || entries[0].ID != charge.ID ||
		entries[0].Event.Event == nil {
		t.Errorf("%+v, %v, must be the charge of the record", entries, err)
	}
}

// TestNothingIsChargedInABlankBook: the replay of a run notes its charges and writes none.
func TestNothingIsChargedInABlankBook(t *testing.T) {
	plan := planOf(1)
	p := purse(Blank(ds(), Place{}), plan, "r")
	if err := p.PayAll(&plan.Steps[0]); err != nil {
		t.Fatal(err)
	}
	if charges, head := p.Paid(); len(charges) != 1 || charges[0].Ledger != "" || head != (ledger.Head{}) {
		t.Errorf("%+v, %+v", charges, head)
	}
}

// TestTestLedgerIsApart: charges of runs with a test seed never stand among real ones, and both ledgers have a whole
// path, by which a record names one and the same file wherever it is read.
func TestTestLedgerIsApart(t *testing.T) {
	place := Place{Asked: "x" + TestLedgerSuffix[len(".NOT-PRIVATE"):], Test: true}
	if path, err := place.ledger(ds()); err != nil || filepath.Base(path) != "x"+TestLedgerSuffix ||
		!filepath.IsAbs(path) {
		t.Errorf("%s, %v, must be apart from the ledger of real charges", path, err)
	}
	place.Test = false
	if path, err := place.ledger(ds()); err != nil || filepath.Base(path) != place.Asked || !filepath.IsAbs(path) {
		t.Errorf("%s, %v, must be where it was asked for", path, err)
	}
}
