package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfineCoversTheLedger: a spec from a stranger must not make weir write elsewhere,
// whether by a path, by a link in place of the ledger, or by what an owner file says.
func TestConfineCoversTheLedger(t *testing.T) {
	t.Parallel()
	const beside = "data.csv.weir-ledger.jsonl"
	ledger := func(path string) func(study) {
		return func(s study) { s.edit("spec.yaml", "rows_public: 60}", "rows_public: 60, ledger: "+path+"}") }
	}
	link := func(name, target string) func(study) {
		return func(s study) {
			if err := os.Symlink(target, s.path(name)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	outside := t.TempDir()
	for name, c := range map[string]struct {
		change func(study)
		inside bool
		check  bool // weir check sees it too: it is in the spec
	}{
		"..":                   {ledger("../elsewhere.jsonl"), false, true},
		".. in the middle":     {ledger("a/../../elsewhere.jsonl"), false, true},
		"absolute":             {ledger(outside + "/elsewhere.jsonl"), false, true},
		"through a linked dir": {func(s study) { link("way", outside)(s); ledger("way/elsewhere.jsonl")(s) }, false, true},
		"a link": {func(s study) { link("l.jsonl", outside+"/elsewhere.jsonl")(s); ledger("l.jsonl")(s) },
			false, true},
		"a link by default":      {link(beside, outside+"/elsewhere.jsonl"), false, false},
		"a relative link":        {link(beside, "../elsewhere.jsonl"), false, false},
		"a link for the lock":    {link(beside+".lock", outside+"/elsewhere.jsonl"), false, false},
		"inside":                 {ledger("ledgers/mine.jsonl"), true, true},
		"a link that stays":      {func(s study) { link(beside, "mine.jsonl")(s) }, true, true},
		"the default":            {func(study) {}, true, true},
		"in the folder of runs":  {ledger("runs/ledgers/x.jsonl"), true, true},
		"the folder has another": {func(s study) { link("back", ".")(s); ledger("back/mine.jsonl")(s) }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			s := newStudy(t, 60)
			moved := filepath.Join(parent, "bundle")
			if err := os.Rename(s.dir, moved); err != nil {
				t.Fatal(err)
			}
			s.dir = moved
			c.change(s)
			want := exitUsage
			if c.inside {
				want = exitDone
			}
			if code, _, errs := s.weir("check", s.path("spec.yaml"), "--confine"); c.check && code != want {
				t.Errorf("check: exit code %d, must be %d: %s", code, want, errs)
			}
			code, _, errs := s.run("--confine")
			if code != want || !c.inside && !strings.Contains(errs, "--confine") {
				t.Errorf("run: exit code %d, must be %d: %s", code, want, errs)
			}
			for _, folder := range []string{parent, outside} {
				if left, _ := filepath.Glob(filepath.Join(folder, "elsewhere*")); len(left) > 0 {
					t.Errorf("%v was written", left)
				}
			}
		})
	}
}

// TestConfineLeavesTheCallersLedger: --ledger is not of the spec.
func TestConfineLeavesTheCallersLedger(t *testing.T) {
	s := newStudy(t, 60)
	path := filepath.Join(t.TempDir(), "mine.jsonl")
	if code, _, errs := s.run("--confine", "--ledger", path); code != exitDone {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
