package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/runtime/store"
)

// TestKills: the smallest soak finds nothing, and each thing that a kill might leave is a finding. Both kill one
// program, which takes as long to link as they to run.
func TestKills(t *testing.T) {
	program, err := buildWeir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("nothing is found", func(t *testing.T) { nothingIsFound(t, program) })
	t.Run("planted faults are seen", func(t *testing.T) { plantedFaultsAreSeen(t, program) })
}

func nothingIsFound(t *testing.T, program string) {
	o := killOptions{kills: 15, seed: 1, together: 2, out: t.TempDir(), dir: t.TempDir(), program: program}
	if err := o.run(); err != nil {
		found, _ := filepath.Glob(filepath.Join(o.out, "*", "fault.txt"))
		for _, path := range found {
			text, _ := os.ReadFile(path)
			t.Log(string(text))
		}
		t.Fatal(err)
	}
}

func plantedFaultsAreSeen(t *testing.T, program string) {
	dir := t.TempDir()
	s := &killSoak{killOptions: killOptions{dir: dir, program: program}, by: map[string]int{}}
	if err := s.reference(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plant func(l *life, run string) error
		want  string
	}{
		"nothing": {func(*life, string) error { return nil }, ""},
		"a charge twice": {func(l *life, _ string) error {
			p, err := l.launch("run", "spec.yaml", "--insecure-noise-seed", noiseSeed, "--fresh")
			if err == nil && p.wait() != "" {
				err = errors.New(p.stderr())
			}
			runs, _ := store.Runs(filepath.Join(l.dir, "runs", "tiny"))
			return errors.Join(err, os.RemoveAll(runs[len(runs)-1]))
		}, "2 charges, must have 1"},
		"a lost ledger": {func(l *life, _ string) error {
			return os.Remove(l.pathOf("data.csv.NOT-PRIVATE.weir-ledger.jsonl"))
		}, "no such file"},
		"a second run": {func(l *life, run string) error { return os.CopyFS(run+"x", os.DirFS(run)) },
			"2 runs, must be 1"},
		"a released file": {func(_ *life, run string) error { return os.Remove(filepath.Join(run, "release", "BILL.txt")) },
			"BILL.txt"},
		"a temporary file": {func(l *life, _ string) error {
			return os.WriteFile(l.pathOf("runs/cache/paid/.x.tmp12"), nil, 0o600)
		}, "is left"},
		"a checkpoint": {func(l *life, _ string) error { return os.MkdirAll(l.pathOf("runs/cache/x/scratch"), 0o700) },
			"is left"},
		"an open file": {func(l *life, _ string) error { return os.WriteFile(l.pathOf("runs/tiny/rows.arrow"), nil, 0o644) },
			"its owner's alone"},
		"an unfinished record": {func(_ *life, run string) error {
			return editFile(filepath.Join(run, "run.json"), `"done"`, `"running"`)
		}, "must be done"},
	} {
		l := &life{killSoak: s, dir: filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))}
		if err := l.born(); err != nil {
			t.Fatal(err)
		}
		p, err := l.start()
		if err != nil {
			t.Fatal(err)
		}
		if why := p.wait(); why != "" {
			t.Fatal(why)
		}
		run, _, err := l.run()
		if err == nil {
			err = c.plant(l, run)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.check()
		if err != nil || (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: finds %q, %v, must find %q", name, got, err, c.want)
		}
	}
}

func (l *life) pathOf(name string) string { return filepath.Join(l.dir, name) }

func editFile(path, old, new string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o600)
}
