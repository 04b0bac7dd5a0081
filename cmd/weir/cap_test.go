package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// budget sets dataset.budget of the study, or replaces it.
func (s study) budget(text string) {
	spec := s.read("spec.yaml")
	before, after, _ := strings.Cut(spec, "rows_public: 400")
	_, after, _ = strings.Cut(after, "}\nprivacy")
	s.write("spec.yaml", before+"rows_public: 400"+text+"}\nprivacy"+after)
}

// TestLoosenedCapIsNoted: the budget is a line of the spec, so whoever edits it
// must not raise or drop it without a word.
func TestLoosenedCapIsNoted(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	s.training("independent")
	const note = "the ledger was capped at epsilon "
	run := func(budget, want string) {
		t.Helper()
		s.budget(budget)
		code, _, errs := s.run("--fresh")
		if code != exitDone || strings.Contains(errs, note) != (want != "") || !strings.Contains(errs, want) {
			t.Errorf("with %q: exit code %d, must note %q: %s", budget, code, want, errs)
		}
	}
	run("", "")
	run(", budget: {epsilon: 6, delta: 1e-6}", "")
	run(", budget: {epsilon: 5, delta: 1e-6}", "")
	run(", budget: {epsilon: 7, delta: 1e-6}", note+"5 (delta 1e-06); this spec says 7")
	run(", budget: {epsilon: 7, delta: 1e-5}", note+"7 (delta 1e-06); this spec says epsilon 7 (delta 1e-05)")
	run("", note+"7 (delta 1e-05); this spec has no budget")
}

// TestLedgerThatIsGoneIsNoted: a folder that was copied and whose original was moved has two ledgers, of which neither
// knows what the other spends. Plan and first run of each say so, the run for good; who shows a finished run says it
// too.
func TestLedgerThatIsGoneIsNoted(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	s.training("independent")
	s.result()
	copied, moved := study{t, filepath.Join(t.TempDir(), "copy")}, study{t, filepath.Join(t.TempDir(), "moved")}
	s.must(os.CopyFS(copied.dir, os.DirFS(s.dir)))
	stale := copied.path("data.csv.weir-ledger.jsonl")
	if code, _, errs := copied.run("--set", "seed=4"); code != exitDone || strings.Contains(errs, "is gone") ||
		!strings.Contains(errs, stale+", beside the table, is not the ledger that is charged") {
		t.Fatalf("a copy charges the ledger that is there, and must say so: exit code %d, %s", code, errs)
	}
	code, _, errs := copied.weir("ledger", "verify", stale, "--runs", copied.path("runs"))
	if code != exitMismatch || !strings.Contains(errs, "this is a copy that stayed behind") {
		t.Errorf("the ledger of the copy: exit code %d, %s", code, errs)
	}
	s.must(os.RemoveAll(copied.dir))
	s.must(os.CopyFS(copied.dir, os.DirFS(s.dir)))
	s.must(os.Rename(s.dir, moved.dir))
	for i, place := range []study{copied, moved} {
		want := s.path("data.csv.weir-ledger.jsonl") + ", the ledger of this dataset until now, is gone"
		_, out, errs := place.weir("plan", place.path("spec.yaml"), "--out", place.path("runs"))
		if !strings.Contains(out, want) {
			t.Errorf("the plan has no note %q: %s%s", want, out, errs)
		}
		if i == 1 {
			if code, _, errs := place.run(); code != exitDone || !strings.Contains(errs, want) {
				t.Errorf("exit code %d, a finished run is shown without the note: %s", code, errs)
			}
			continue
		}
		code, out, errs := place.run("--set", "seed=4", "--json")
		var r runResult
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitDone || !strings.Contains(errs, want) {
			t.Fatalf("exit code %d, %v, must note %q: %s", code, err, want, errs)
		}
		if rec := place.record(r.Run); rec.Dataset.Former != s.path("data.csv.weir-ledger.jsonl") {
			t.Errorf("the record has %q for the ledger that is gone", rec.Dataset.Former)
		}
		if code, _, errs := place.run("--set", "seed=5"); code != exitDone || strings.Contains(errs, "is gone") {
			t.Errorf("the next run: exit code %d, says again what is known: %s", code, errs)
		}
	}
}

// TestCapIsVisible: plan, refusal and ledger speak of the cap in epsilon.
func TestCapIsVisible(t *testing.T) {
	s := newStudy(t, 400).tight()
	s.budget(", budget: {epsilon: 1.3, delta: 1e-5}")
	if _, out, _ := s.weir("plan", s.path("spec.yaml")); !strings.Contains(out,
		"\nCAP   dataset.budget epsilon 1.3 at delta 1e-05, filter rdp\n") {
		t.Errorf("the plan has no line of the cap: %s", out)
	}
	s.result()
	code, _, errs := s.run("--fresh")
	if code != exitPrivacy || !strings.Contains(errs, "refused: epsilon ") || !strings.Contains(errs,
		" of 1.3 is spent at delta 1e-05; this bill would make it ") || !strings.Contains(errs, "Nothing was charged") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	code, out, errs := s.weir("ledger", "show", s.path("data.csv"))
	if code != exitDone || !strings.Contains(out, "budget: epsilon 1.3 at delta 1e-05; spent ") ||
		!strings.Contains(out, "(filter rdp at order ") || !strings.Contains(out, "at delta 1e-05 for one row") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	_, out, _ = s.weir("ledger", "show", s.path("data.csv"), "--json")
	var v struct {
		Total  struct{ Delta float64 }
		Budget struct{ Epsilon, Delta, Spent, Left float64 }
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Total.Delta != 1e-5 || v.Budget.Epsilon != 1.3 ||
		!(v.Budget.Spent > 0 && v.Budget.Left > 0) {
		t.Errorf("%+v, %v", v, err)
	}
	if _, out, _ = s.weir("ledger", "show", s.path("data.csv"), "--delta", "1e-6"); !strings.Contains(out,
		"at delta 1e-06 for one row") || !strings.Contains(out, "budget: epsilon 1.3 at delta 1e-05") {
		t.Errorf("--delta does not prevail, or changes the cap: %s", out)
	}
}

// TestLedgerByItsTable: whoever names the table gets the ledger beside it, and no
// word of the table where there is none.
func TestLedgerByItsTable(t *testing.T) {
	s := newStudy(t, 400)
	for _, command := range []string{"show", "verify"} {
		if code, out, errs := s.weir("ledger", command, s.path("data.csv")); code != exitMismatch ||
			strings.Contains(out+errs, "income") || strings.Contains(out+errs, needle) {
			t.Errorf("%s of a table without a ledger: exit code %d, %s%s", command, code, out, errs)
		}
	}
	newLedger(t, s, "data.csv.weir-ledger.jsonl", "train")
	for _, command := range []string{"show", "verify"} {
		if code, out, errs := s.weir("ledger", command, s.path("data.csv")); code != exitDone || command == "verify" &&
			!strings.Contains(out, "data.csv.weir-ledger.jsonl: intact, 1 charge") {
			t.Errorf("%s: exit code %d, %s%s", command, code, out, errs)
		}
	}
}
