package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (s study) lock(args ...string) (code int, out, errs string) {
	return s.weir(append([]string{"lock", s.path("spec.yaml"), "--out", s.path("runs")}, args...)...)
}

// mustSay runs and wants an exit code, and words on stderr.
func (s study) mustSay(code int, words []string, args ...string) {
	s.t.Helper()
	got, _, errs := s.weir(args...)
	if got != code {
		s.t.Errorf("weir %v: exit code %d, must be %d: %s", args, got, code, errs)
	}
	for _, w := range words {
		if !strings.Contains(errs, w) {
			s.t.Errorf("weir %v: does not say %q: %s", args, w, errs)
		}
	}
	if strings.Contains(errs, needle) {
		s.t.Errorf("weir %v: quotes a private value: %s", args, errs)
	}
}

func (s study) ledgerLines() int {
	text, err := os.ReadFile(s.path("data.csv.weir-ledger.jsonl"))
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "\n")
}

// TestLockedRunsAsLockedOnly: all that differs is named at once, and nothing is charged.
func TestLockedRunsAsLockedOnly(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 200)
	run := []string{"run", s.path("spec.yaml"), "--out", s.path("runs"), "--locked"}
	s.mustSay(exitMismatch, []string{"weir.lock: has no lines of spec.yaml", "weir lock " + s.path("spec.yaml")}, run...)
	if _, err := os.Stat(s.path("data.csv.weir-owner.json")); err == nil {
		t.Error("a refused run has left its mark beside the data")
	}
	if code, _, errs := s.lock(); code != exitDone {
		t.Fatal(errs)
	}
	if n := s.ledgerLines(); n != 0 {
		t.Errorf("a lock has charged %d", n)
	}
	s.mustSay(exitDone, nil, run...)
	paid := s.ledgerLines()
	s.edit("spec.yaml", "seed: 3", "seed: 4")
	s.edit("spec.yaml", "steps: 40", "steps: 41")
	s.edit("data.csv", "73313", "73314")
	s.mustSay(exitMismatch, []string{"part seed: was 3, is 4", "stage train: was dp_wgan",
		"dataset: has other content than version 1"}, run...)
	s.mustSay(exitMismatch, []string{"part seed", "stage train"}, "lock", "--check", s.path("spec.yaml"))
	s.mustSay(exitMismatch, []string{"declare another dataset.version"}, "lock", s.path("spec.yaml"), "--out",
		s.path("runs"))
	s.mustSay(exitMismatch, []string{"no such file", "part seed: was 3, is 4"},
		append(run, "--set", "dataset.file=gone.csv")...)
	s.mustSay(exitPrivacy, []string{"dataset.version: is 1"}, run[:4]...) // without --locked the lock is ignored
	s.mustSay(exitDone, nil, append(run[:4:4], "--set", "dataset.version=2")...)
	if s.ledgerLines() != paid+1 {
		t.Errorf("%d charges, must be %d", s.ledgerLines(), paid+1)
	}
	s.edit("spec.yaml", "rows_public: 200", `rows_public: 200, version: "2"`)
	if code, out, errs := s.lock(); code != exitDone || !strings.Contains(out, "dataset: was ds-") {
		t.Errorf("%s%s", out, errs)
	}
	s.mustSay(exitDone, nil, run...)
}

// TestLockIgnoresWhatIsNoChange: comments, the order of keys and stages, and where the data lies.
func TestLockIgnoresWhatIsNoChange(t *testing.T) {
	s := newStudy(t, 200)
	if code, _, errs := s.lock(); code != exitDone {
		t.Fatal(errs)
	}
	locked := s.read("weir.lock")
	s.write("elsewhere.csv", s.read("data.csv"))
	s.edit("spec.yaml", "name: study\n", "# a comment\n")
	s.edit("spec.yaml", "weir: 1\n", "name: study\nweir: 1\n")
	s.mustSay(exitDone, nil, "run", s.path("spec.yaml"), "--out", s.path("runs"), "--locked", "--set", "dataset.file="+
		s.path("elsewhere.csv"))
	if code, _, errs := s.lock(); code != exitDone || s.read("weir.lock") != locked {
		t.Errorf("the lock has changed: %s", errs)
	}
	if strings.Contains(locked, "data.csv") || strings.Contains(locked, s.dir) {
		t.Error("the lock names where the data lies")
	}
	s.mustSay(exitMismatch, []string{"stage sample"}, "run", s.path("spec.yaml"), "--out", s.path("runs"), "--locked",
		"--set", "stages.sample.rows=51")
}

// TestLockNamesSettings that differ, where git has the spec that was locked; else digests stand alone.
func TestLockNamesSettings(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 50)
	if code, _, errs := s.lock(); code != exitDone {
		t.Fatal(errs)
	}
	s.repository()
	s.edit("spec.yaml", "steps: 40", "steps: 41")
	s.commit("other steps")
	s.mustSay(exitMismatch, []string{"stage train: was dp_wgan", "settings that differ from those of commit",
		"\n  stages.train.steps: 40 -> 41"}, "lock", "--check", s.path("spec.yaml"))
	if code, out, errs := s.lock(); code != exitDone || !strings.Contains(out, "\n  stages.train.steps: 40 -> 41") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	s.edit("spec.yaml", "steps: 41", "steps: 42")
	code, _, errs := s.weir("lock", "--check", s.path("spec.yaml"))
	if code != exitMismatch || !strings.Contains(errs, "stage train: was") ||
		strings.Contains(errs, "settings that differ") {
		t.Errorf("where git does not have what was locked, exit code %d: %s", code, errs)
	}
}

// TestLockOfAnotherDataset, of another program, and of another public file.
func TestLockOfAnotherDataset(t *testing.T) {
	s := newStudy(t, 200)
	s.write("other.csv", "id,income,group,flag\n"+strings.Repeat("9,5,a,0\n", 200))
	s.write("public.csv", "id,income,group,flag\n1,2,a,0\n")
	s.edit("spec.yaml", "  sample: {", "  known: {kind: read, like: dataset, file: public.csv, class: public, "+
		"declared_by: us}\n  sample: {from: train.model, ")
	if code, _, errs := s.lock(); code != exitDone {
		t.Fatal(errs)
	}
	locked := s.read("weir.lock")
	if !strings.Contains(locked, "spec.yaml file known public.csv sha256:") {
		t.Errorf("the public file is not locked: %s", locked)
	}
	s.edit("public.csv", "1,2,a", "1,3,a")
	s.edit("weir.lock", "spec.yaml weir ", "spec.yaml weir v0.0.0-")
	s.mustSay(exitMismatch, []string{"dataset: was ds-", "file known public.csv: was sha256:", "weir: was v0.0.0-"},
		"run", s.path("spec.yaml"), "--out", s.path("runs"), "--locked", "--set", "dataset.file="+s.path("other.csv"))
	if _, err := os.Stat(s.path("other.csv.weir-owner.json")); err == nil {
		t.Error("a refused run has left its mark beside another dataset")
	}
}

// TestDamagedLockIsToldByLine, and mended by writing it again.
func TestDamagedLockIsToldByLine(t *testing.T) {
	s := newStudy(t, 200)
	if code, _, errs := s.lock(); code != exitDone {
		t.Fatal(errs)
	}
	whole := s.read("weir.lock")
	s.write("weir.lock", strings.Replace(whole, "spec.yaml weir ",
		"<<<<<<< HEAD\nspec.yaml weir 0\n=======\nspec.yaml weir ", 1)+">>>>>>> other\n")
	s.mustSay(exitMismatch, []string{"weir.lock:", "is a mark of a conflict"}, "run", s.path("spec.yaml"), "--out",
		s.path("runs"), "--locked")
	s.mustSay(exitMismatch, []string{"is a mark of a conflict"}, "lock", "--check", s.path("spec.yaml"))
	if code, _, errs := s.lock(); code != exitDone || s.read("weir.lock") != whole {
		t.Errorf("the lock is not mended: %s", errs)
	}
	s.mustSay(exitUsage, []string{"lies in no folder"}, "lock", "specs:turku-gs-wgan-mean")
	s.mustSay(exitUsage, []string{"--insecure-noise-seed"}, "run", s.path("spec.yaml"), "--locked",
		"--insecure-noise-seed", "1")
	s.mustSay(exitUsage, []string{"SPEC"}, "lock")
}

// TestOneLockForAFolder: each spec has its lines, in one file; the lines of specs that are gone go.
func TestOneLockForAFolder(t *testing.T) {
	s := newStudy(t, 200)
	for _, name := range []string{"b.yaml", "c.yaml"} {
		s.write(name, s.read("spec.yaml"))
	}
	code, out, errs := s.weir("lock", s.path("spec.yaml"), s.path("b.yaml"), s.path("c.yaml"), "--out", s.path("runs"),
		"--json")
	var result struct{ Specs []lockedSpec }
	if code != exitDone || json.Unmarshal([]byte(out), &result) != nil || len(result.Specs) != 3 {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	os.Remove(s.path("c.yaml"))
	if code, _, errs = s.lock(); code != exitDone {
		t.Fatal(errs)
	}
	text := s.read("weir.lock")
	if !strings.Contains(text, "\nb.yaml stage train ") || strings.Contains(text, "\nc.yaml") {
		t.Errorf("lines of b.yaml stay and those of c.yaml go: %s", text)
	}
	before, err := filepath.Glob(s.path("*"))
	s.mustSay(exitDone, nil, "lock", "--check", s.path("spec.yaml"), s.path("b.yaml"))
	if after, _ := filepath.Glob(s.path("*")); err != nil || len(after) != len(before) {
		t.Errorf("--check has written: %v", after)
	}
}

// TestLockedExperiment: its base is locked, each of its runs is held to the data, and what
// differs refuses all of them before the first charge.
func TestLockedExperiment(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 200)
	s.edit("spec.yaml", "seed: 3\n", "seed: 3\nexperiment: {grid: {stages.train.steps: [10, 12]}, repeats: 2}\n")
	if code, _, errs := s.lock(); code != exitDone {
		t.Fatal(errs)
	}
	run := []string{"run", s.path("spec.yaml"), "--out", s.path("runs"), "--locked"}
	s.mustSay(exitDone, nil, run...)
	if n := s.ledgerLines(); n != 4 {
		t.Errorf("%d charges, must be 4", n)
	}
	s.edit("spec.yaml", "[10, 12]", "[10, 14]")
	s.edit("data.csv", "73313", "73314")
	s.mustSay(exitMismatch, []string{"part experiment: was sha256:", "has other content"}, run...)
	if n := s.ledgerLines(); n != 4 {
		t.Errorf("%d charges, must still be 4", n)
	}
}
