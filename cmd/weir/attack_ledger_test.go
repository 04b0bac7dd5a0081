package main

import (
	"os"
	"strings"
	"testing"
)

// TestLedgerTakenBackUnderACopy: two files of one dataset, each under a folder of runs of its own, know of
// the ledger what it held when they were last run. Where it was taken back meanwhile (git checkout), the
// owner file that it lies beside knows more, and so has the last word on whichever file is run.
func TestLedgerTakenBackUnderACopy(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 60)
	s.training("independent")
	s.write("copy.csv", s.read("data.csv"))
	s.write("copy.yaml", strings.Replace(s.read("spec.yaml"), "data.csv", "copy.csv", 1))
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := s.weir(append([]string{"run", "--yes", "--fresh"}, args...)...)
		if code != want {
			t.Fatalf("weir run %v: exit code %d, must be %d: %s%s", args, code, want, out, errs)
		}
		return errs
	}
	run(0, s.path("spec.yaml"), "--out", s.path("runs"))
	run(0, s.path("copy.yaml"), "--out", s.path("other"))
	committed := s.read("data.csv.weir-ledger.jsonl")
	run(0, s.path("spec.yaml"), "--out", s.path("runs"))
	s.write("data.csv.weir-ledger.jsonl", committed)
	if errs := run(3, s.path("copy.yaml"), "--out", s.path("other")); !strings.Contains(errs, "weir ledger restore") {
		t.Errorf("is refused without a way on: %s", errs)
	}
	if code, _, errs := s.weir("ledger", "restore", s.path("data.csv"), "--out", s.path("runs")); code != 0 ||
		s.charges() != 3 {
		t.Errorf("ledger restore: %d, %d charges, must be 3: %s", code, s.charges(), errs)
	}
	run(0, s.path("copy.yaml"), "--out", s.path("other"))
}

// TestShownRunIsPaidForAgain: ledger and owner's side come from a backup that is older than a run. Showing the run
// writes its charge again, recipe included, so that what it paid for is used by the next spec that asks for it.
func TestShownRunIsPaidForAgain(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	s.done(false)
	stored := map[string]string{}
	for _, name := range []string{"data.csv.weir-ledger.jsonl", "data.csv.weir-owner.json", "data.csv.weir-owner.jsonl"} {
		stored[name] = s.read(name)
	}
	datasets := t.TempDir()
	s.must(os.CopyFS(datasets, os.DirFS(s.path("runs/datasets"))))
	s.edit("spec.yaml", "epsilon: 3", "epsilon: 4")
	run := s.done(false)
	for name, text := range stored {
		s.write(name, text)
	}
	s.must(os.RemoveAll(s.path("runs/datasets")))
	s.must(os.CopyFS(s.path("runs/datasets"), os.DirFS(datasets)))
	if shown := s.done(false); !shown.Reused || s.charges() != 4 {
		t.Errorf("%s, %d charges, must be %s again with 4", shown.Record.ID, s.charges(), run.Record.ID)
	}
	s.edit("spec.yaml", "rows: 50", "rows: 60")
	if again := s.done(false); fromOf(again.Record, "train") != run.Record.ID || s.charges() != 4 {
		t.Errorf("train is from %q with %d charges, must be from %s with 4", fromOf(again.Record, "train"), s.charges(),
			run.Record.ID)
	}
}
