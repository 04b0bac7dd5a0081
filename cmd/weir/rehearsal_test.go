package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRehearsalsOfTablesOfOneName: two folders hold tables of one name, and a run in each, from that folder and with
// a relative path, goes into one folder of runs. Rehearsals share the id of their dataset, and each is held against
// its own ledger alone; real noise has an id a table. What a rehearsal's record states of its own ledger still holds.
func TestRehearsalsOfTablesOfOneName(t *testing.T) {
	for name, noise := range map[string][]string{"rehearsal": {"--insecure-noise-seed", "1"}, "real noise": {"--yes"}} {
		s, _ := elsewhere(t)
		s.edit("one/spec.yaml", ", ledger: ../ledgers/spent.weir-ledger.jsonl", "")
		s.must(os.CopyFS(s.path("two"), os.DirFS(s.path("one"))))
		s.edit("two/data.csv", "0,20000,a,0", "0,20001,a,0")
		run := func(folder string) (code int, errs string) {
			t.Chdir(s.path(folder))
			code, _, errs = s.weir(append([]string{"run", "--fresh", "spec.yaml", "--out", s.path("runs")}, noise...)...)
			return code, errs
		}
		for range 2 {
			for _, folder := range []string{"one", "two"} {
				if code, errs := run(folder); code != exitDone {
					t.Fatalf("%s in %s: %d: %s", name, folder, code, errs)
				}
			}
		}
		ledgers, err := filepath.Glob(s.path("two/data.csv.*ledger.jsonl"))
		s.must(err)
		if len(ledgers) != 1 {
			t.Fatalf("%s: ledgers %v, must be one beside the table", name, ledgers)
		}
		records, err := filepath.Glob(s.path("runs/study/*/run.json"))
		s.must(err)
		s.editRecord(filepath.Dir(records[0]), func(rec map[string]any) { // of the first folder, as records were before
			of := rec["dataset"].(map[string]any)
			if name == "rehearsal" {
				of["ledger"], of["ledger_count"] = filepath.Base(of["ledger"].(string)), 7
			}
		})
		if code, errs := run("two"); code != exitDone {
			t.Fatalf("%s beside a record that names no folder: %d: %s", name, code, errs)
		}
		s.must(os.Remove(ledgers[0]))
		if code, errs := run("two"); code == exitDone || !strings.Contains(errs, "must hold the charges") {
			t.Errorf("%s without its ledger: %d: %s, must be refused", name, code, errs)
		}
	}
}
