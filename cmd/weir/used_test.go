package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLedgerIsHeldAgainstItsOwnerFile: show and verify see what was taken from the end of a
// ledger, or all of it, as a run does, whichever of table and ledger is named.
func TestLedgerIsHeldAgainstItsOwnerFile(t *testing.T) {
	s := newStudy(t, 60)
	s.result()
	ledger := "data.csv.weir-ledger.jsonl"
	whole := s.read(ledger)
	for name, damage := range map[string]func(){"emptied": func() { s.write(ledger, "") },
		"gone": func() { os.Remove(s.path(ledger)) }} {
		damage()
		for _, args := range [][]string{{"show", ledger}, {"show", "data.csv"}, {"verify", ledger}} {
			code, out, errs := s.weir("ledger", args[0], s.path(args[1]))
			if code != exitMismatch || !strings.Contains(errs, "data.csv.weir-owner.json") {
				t.Errorf("%s, %v: exit code %d: %s%s", name, args, code, out, errs)
			}
		}
		s.write(ledger, whole)
	}
	if code, out, errs := s.weir("ledger", "show", s.path("data.csv")); code != exitDone {
		t.Errorf("whole: exit code %d: %s%s", code, out, errs)
	}
}

// TestRefusedCopyIsNotInTheWay: a copy with other bytes that is refused (W32) leaves nothing
// for which the dataset itself would be refused afterwards.
func TestRefusedCopyIsNotInTheWay(t *testing.T) {
	s := newStudy(t, 400)
	s.edit("spec.yaml", "rows_public: 400}", "rows_public: 400, budget: {epsilon: 5, delta: 1e-6}}")
	s.result()
	s.write("copy.csv", strings.Replace(s.read("data.csv"), "\n0,", "\n00,", 1))
	code, _, errs := s.run("--set", "dataset.file="+s.path("copy.csv"))
	if code == exitDone || !strings.Contains(errs, "W32") {
		t.Fatalf("exit code %d, must be refused for W32: %s", code, errs)
	}
	if _, err := os.Stat(s.path("copy.csv.weir-owner.json")); err == nil {
		t.Error("the refused run left an owner file")
	}
	if code, _, errs := s.run(); code != exitDone {
		t.Errorf("the dataset itself: exit code %d: %s", code, errs)
	}
	if code, _, errs := s.run("--set", "dataset.file="+s.path("copy.csv")); code == exitDone || !strings.Contains(errs,
		"W32") {
		t.Errorf("the copy again: exit code %d: %s", code, errs)
	}
}

// TestContinueTakesTablesOnly: what is not a file gets no key.
func TestContinueTakesTablesOnly(t *testing.T) {
	s := newStudy(t, 60)
	s.result()
	folder := filepath.Join(s.dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	code, _, errs := s.weir("ledger", "continue", s.path("data.csv"), folder, "--out", s.path("runs"))
	if code != exitUsage || !strings.Contains(errs, "is a folder, must be a regular file") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestReleasedDomainFitsTheTable: the table beside it can be read with it, also where a
// column was dropped on the way.
func TestReleasedDomainFitsTheTable(t *testing.T) {
	s := newStudy(t, 60)
	release := filepath.Join(s.result().Run, "release")
	sample := filepath.Join(release, "sample.csv")
	code, _, errs := s.weir("evaluate", "--real", sample, "--synthetic", sample, "--domain",
		filepath.Join(release, "domain.yaml"), "--metrics", "marginals")
	if code != exitDone {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
