package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrivateTableMakesNoCharge: whether a run adds a line to the public ledger does not follow from rows,
// the rows of a private test table included. Here nothing of the earlier run can be used again but itself.
func TestPrivateTableMakesNoCharge(t *testing.T) {
	t.Parallel()
	lines := map[bool]int{}
	for _, changed := range []bool{false, true} {
		s := studyWithTest(t)
		table := s.read("test.csv")
		run := func() {
			code, _, errs := s.run("--yes", "--drop-noise-key")
			if code != exitDone && !strings.Contains(errs, "nothing was charged. --fresh draws new noise") {
				t.Fatalf("exit code %d: %s", code, errs)
			}
		}
		run()
		s.must(os.RemoveAll(s.path("runs/cache"))) // as weir gc --paid does
		if changed {
			s.write("test.csv", table[:strings.LastIndexByte(strings.TrimSuffix(table, "\n"), '\n')+1])
		}
		run()
		run() // a refused one left nothing to be continued
		lines[changed] = s.charges()
	}
	if lines[false] != lines[true] {
		t.Errorf("the ledger has %d lines where the test table is as it was, and %d where it lost a row", lines[false],
			lines[true])
	}
}

// studyWithTest returns a study whose figures are of a private test table beside the dataset.
func studyWithTest(t *testing.T) study {
	s := newStudy(t, 60)
	s.training("independent")
	s.edit("spec.yaml", "  features:", "  test: {kind: read, like: dataset, file: test.csv, class: private}\n  features:")
	s.edit("spec.yaml", "features: {kind: drop, columns: [id]}", "features: {kind: drop, columns: [id], from: dataset}")
	s.edit("spec.yaml", "rows: 50}\n", "rows: 50}\n  held: {kind: drop, columns: [id], from: test}\n  close: {kind: "+
		"marginals, real: held, synthetic: sample}\n")
	s.write("test.csv", s.read("data.csv"))
	return s
}

// TestInterruptedRunMakesNoCharge: a run that may charge nothing may not where it is continued.
func TestInterruptedRunMakesNoCharge(t *testing.T) {
	t.Parallel()
	s := studyWithTest(t)
	table := s.read("test.csv")
	s.run("--yes", "--drop-noise-key")
	s.write("test.csv", table[:strings.LastIndexByte(strings.TrimSuffix(table, "\n"), '\n')+1])
	s.run("--yes")
	marks, err := filepath.Glob(s.path("runs/study/*/internal/charges-nothing"))
	s.must(err)
	if len(marks) != 1 || s.charges() != 1 {
		t.Fatalf("%d runs that may charge nothing, and %d charges, want 1 and 1", len(marks), s.charges())
	}
	last, err := filepath.Rel(s.path(""), filepath.Join(filepath.Dir(filepath.Dir(marks[0])), "run.json"))
	s.must(err)
	s.edit(last, `"status": "done"`, `"status": "interrupted"`)
	s.must(os.RemoveAll(s.path("runs/cache")))
	if code, _, errs := s.run("--yes"); code != exitFailed || s.charges() != 1 {
		t.Errorf("exit code %d, %d charges, want %d and 1: %s", code, s.charges(), exitFailed, errs)
	}
}
