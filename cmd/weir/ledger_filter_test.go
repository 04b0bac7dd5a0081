package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/ledger"
)

// TestLedgerShowsTheFilter: show prints the filter's total beside the total of a plan fixed ahead, which is never
// above it.
func TestLedgerShowsTheFilter(t *testing.T) {
	s := study{t, t.TempDir()}
	path := newLedger(t, s, "l", "before")
	l, err := ledger.Open(disk.Disk{}, path, "", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	c := ledger.Charge{ID: "x", Version: "1", Unit: ledger.Unit{Column: "patient", MaxRows: 4},
		Adjacency: privacy.AddRemove, Event: privacy.Gaussian{NoiseMultiplier: 9}}
	limit := ledger.Cap{Epsilon: 99, Delta: 1e-6, Adjacency: privacy.AddRemove, Unit: c.Unit, Filter: "rdp", Order: 7}
	if _, err := l.Append(&limit, c); err != nil {
		t.Fatal(err)
	}
	code, out, errs := s.weir("ledger", "show", path)
	if code != exitDone || !strings.Contains(out, "filter (rdp at order 7, fixed in line 2)") ||
		!strings.Contains(out, "1 charge before it released") {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	_, out, _ = s.weir("ledger", "show", path, "--json")
	var v struct {
		Total  struct{ Epsilon float64 }
		Filter struct {
			Name  string
			Order float64
			Line  int
			Total struct{ Epsilon float64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Filter.Name != "rdp" || v.Filter.Order != 7 ||
		v.Filter.Line != 2 || !(v.Filter.Total.Epsilon > v.Total.Epsilon && v.Total.Epsilon > 0) {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestLedgerOfTheEarlierFormat: a ledger of the earlier format is refused by every command, with what to do.
func TestLedgerOfTheEarlierFormat(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("old",
		`{"prev":"sha256:0","time":"2026-01-02T03:04:06Z","run":"r","spec":"s","dataset":"sha256:d1","stage":"train","event":{"pure":{"epsilon":1}},"adjacency":"add_remove","id":"c1","hash":"sha256:0"}`+"\n")
	for _, command := range []string{"show", "verify", "merge"} {
		if code, _, errs := s.weir("ledger", command, s.path("old")); code != exitPrivacy || !strings.Contains(errs,
			"digest of the private table") || strings.Contains(errs, "d1") {
			t.Errorf("%s: exit %d, %s", command, code, errs)
		}
	}
}

// keep writes the record of a run that left the ledger with the head.
func (s study) keep(run, dataset, path string, h ledger.Head) {
	s.t.Helper()
	if err := os.MkdirAll(s.path("runs/study/"+run), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.write("runs/study/"+run+"/run.json",
		fmt.Sprintf(`{"dataset": {"id": %q, "ledger": %q, "ledger_count": %d, "ledger_head": %q}}`, dataset, path, h.Count,
			h.Hash))
}

// TestLedgerVerifyAgainstRuns: lines removed at the end leave a whole chain; the records of the runs tell.
func TestLedgerVerifyAgainstRuns(t *testing.T) {
	s := study{t, t.TempDir()}
	path := newLedger(t, s, "l", "one", "two", "three")
	whole := strings.SplitAfter(s.read("l"), "\n")
	entries, err := ledger.Parse([]byte(s.read("l")))
	if err != nil {
		t.Fatal(err)
	}
	s.keep("early", "ds-data", "", ledger.Head{Count: 1, Hash: entries[0].Hash})
	s.keep("late", "ds-data", path, ledger.Head{Count: 3, Hash: entries[2].Hash})
	s.keep("foreign", "ds-other", "elsewhere", ledger.Head{Count: 9, Hash: "sha256:0"})
	s.keep("free", "ds-data", path, ledger.Head{})
	if code, out, errs := s.weir("ledger", "verify", path, "--runs", s.path("runs"), "--json"); code != exitDone ||
		jsonNumber(t, out, "runs") != 2 {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	for name, text := range map[string]string{"the last line": whole[0] + whole[1], "every line": ""} {
		s.write("l", text)
		code, _, errs := s.weir("ledger", "verify", path, "--runs", s.path("runs"))
		if code != exitMismatch || !strings.Contains(errs, filepath.Join("late", "run.json")) ||
			strings.Contains(errs, "foreign") {
			t.Errorf("without %s: exit %d, %s", name, code, errs)
		}
	}
	t.Chdir(s.dir)
	if code, _, errs := s.weir("ledger", "verify", "l"); code != exitMismatch || !strings.Contains(errs, "late") {
		t.Errorf("the folder runs by default: exit %d, %s", code, errs)
	}
	if code, _, errs := s.weir("ledger", "verify", "l", "--runs", "absent"); code != exitUsage || !strings.Contains(errs,
		"--runs") {
		t.Errorf("an absent folder: exit %d, %s", code, errs)
	}
	s.write("runs/study/late/run.json", "{")
	if code, _, errs := s.weir("ledger", "verify", "l"); code != exitFailed || !strings.Contains(errs,
		"is not the record of a run") {
		t.Errorf("a broken record: exit %d, %s", code, errs)
	}
}

// TestLedgerVerifyAfterARun: what a run leaves is what verify reads: a real ledger cut behind a real run.
func TestLedgerVerifyAfterARun(t *testing.T) {
	s := newStudy(t, 400)
	s.edit("spec.yaml", "rows_public: 400}", "rows_public: 400, budget: {epsilon: 3, delta: 1e-6}}")
	s.result()
	s.result("--fresh")
	path := s.path("data.csv.weir-ledger.jsonl")
	if code, out, errs := s.weir("ledger", "verify", path, "--runs", s.path("runs"), "--json"); code != exitDone ||
		jsonNumber(t, out, "runs") != 2 {
		t.Fatalf("exit %d, %s %s", code, out, errs)
	}
	text := s.read("data.csv.weir-ledger.jsonl")
	if !strings.Contains(text, `"filter":{"name":"rdp","order":`) || strings.Contains(text, `"dataset":"sha256:`) {
		t.Errorf("the ledger is %s", text)
	}
	s.edit("spec.yaml", "delta: 1e-6}}", "delta: 1e-6, filter: gaussian}}")
	if code, _, errs := s.run("--fresh"); code != exitPrivacy || !strings.Contains(errs, "as in line 1") {
		t.Errorf("another filter: exit %d, %s", code, errs)
	}
	s.write("data.csv.weir-ledger.jsonl", strings.SplitAfter(text, "\n")[0])
	if code, _, errs := s.weir("ledger", "verify", path, "--runs", s.path("runs")); code != exitMismatch ||
		!strings.Contains(errs, "removed at the end") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
