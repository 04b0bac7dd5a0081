package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere returns a study whose spec keeps the ledger in another folder than the data, and a copy of the folder
// with the data, owner file included, whose runs know nothing of the runs of the first.
func elsewhere(t *testing.T) (s study, run func(want int, of string, args ...string) string) {
	s = newStudy(t, 60)
	s.training("independent")
	s.edit("spec.yaml", "file: data.csv", "file: data.csv, ledger: ../ledgers/spent.weir-ledger.jsonl")
	s.must(os.Mkdir(s.path("one"), 0o755))
	files, err := filepath.Glob(s.path("*.*"))
	s.must(err)
	for _, f := range files {
		s.must(os.Rename(f, s.path("one/"+filepath.Base(f))))
	}
	run = func(want int, name string, args ...string) string {
		t.Helper()
		code, out, errs := s.weir(append([]string{"run", "--yes", "--fresh", s.path(name + "/spec.yaml"), "--out",
			s.path(name + "/runs")}, args...)...)
		if code != want {
			t.Fatalf("weir run in %s %v: exit code %d, must be %d: %s%s", name, args, code, want, out, errs)
		}
		return errs
	}
	return s, run
}

// TestLedgerElsewhereIsGuarded: the owner file beside the ledger knows the charges of every copy of the data,
// wherever the ledger lies and whichever copy is run: one that was taken back is refused, and restored.
func TestLedgerElsewhereIsGuarded(t *testing.T) {
	t.Parallel()
	s, run := elsewhere(t)
	run(0, "one")
	s.must(os.CopyFS(s.path("two"), os.DirFS(s.path("one"))))
	s.must(os.RemoveAll(s.path("two/runs")))
	path := "ledgers/spent.weir-ledger.jsonl"
	committed := s.read(path)
	run(0, "one")
	whole := s.read(path)
	s.write(path, committed)
	if errs := run(3, "two"); !strings.Contains(errs, "weir ledger restore "+s.path("ledgers/spent")) {
		t.Errorf("is refused without a way on: %s", errs)
	}
	if code, _, errs := s.weir("ledger", "restore", s.path("two/data.csv"), "--out", s.path("two/runs")); code != 0 ||
		s.read(path) != whole {
		t.Errorf("ledger restore: %d: %s", code, errs)
	}
	run(0, "two")
	if run(0, "one"); strings.Count(s.read(path), "\n") != 4 {
		t.Errorf("%d charges, must be 4", strings.Count(s.read(path), "\n"))
	}
}

// TestVersionsElsewhereAreOneTable: two copies of the data agree by the owner file beside their ledger on what a
// version means, whose first charge binds it.
func TestVersionsElsewhereAreOneTable(t *testing.T) {
	t.Parallel()
	s, run := elsewhere(t)
	s.must(os.CopyFS(s.path("two"), os.DirFS(s.path("one"))))
	run(0, "one")
	rows := strings.SplitAfter(s.read("two/data.csv"), "\n")
	rows[1], rows[2] = rows[2], rows[1]
	s.write("two/data.csv", strings.Join(rows, ""))
	if errs := run(3, "two"); !strings.Contains(errs, "dataset.version") {
		t.Errorf("other content under a version that was charged: %s", errs)
	}
	run(0, "two", "--set", "dataset.version=2")
}

// TestLedgerElsewhereOfTwoSides: a clone has the ledger and no owner file. It is a side of its own, and both sides
// charge one ledger, which neither finds taken back.
func TestLedgerElsewhereOfTwoSides(t *testing.T) {
	t.Parallel()
	s, run := elsewhere(t)
	s.must(os.CopyFS(s.path("two"), os.DirFS(s.path("one"))))
	run(0, "one")
	home, left := "ledgers/spent.weir-owner.json", "ledgers/spent.weir-owner.jsonl"
	path, guard, lines := "ledgers/spent.weir-ledger.jsonl", s.read(home), s.read(left)
	s.must(os.Remove(s.path(home)))
	s.must(os.Remove(s.path(left)))
	if errs := run(0, "two"); !strings.Contains(errs, "gets a new key") {
		t.Errorf("begins another side of the dataset without a word: %s", errs)
	}
	s.write(home, guard) // the first side's files come back, such as by a pull
	s.write(left, lines)
	run(0, "one")
	run(0, "two")
	before := s.read(path)
	run(0, "two")
	s.write(path, before)
	run(3, "one")
	run(3, "two")
}
