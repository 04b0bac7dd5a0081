package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/ledger"
)

// newLedger writes a ledger with one charge a stage and returns its path.
func newLedger(t *testing.T, s study, name string, stages ...string) string {
	t.Helper()
	clock := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, len(stages), time.UTC) }
	l, err := ledger.Open(disk.Disk{}, s.path(name), "ds-data", clock)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range stages {
		c := ledger.Charge{ID: name + "/" + stage, Run: "r", Spec: "s", Version: "1", Stage: stage,
			Adjacency: privacy.AddRemove, Event: privacy.Gaussian{NoiseMultiplier: 2}}
		if _, err := l.Append(nil, c); err != nil {
			t.Fatal(err)
		}
	}
	return s.path(name)
}

func TestLedgerShow(t *testing.T) {
	s := study{t, t.TempDir()}
	path := newLedger(t, s, "a.weir-ledger.jsonl", "train", "again")
	code, out, errs := s.weir("ledger", "show", path, "--delta", "1e-5", "--adjacency", "add_remove", "--json")
	var v struct {
		Charges []any
		Total   struct{ Epsilon, Delta float64 }
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v, %s %s", code, err, out, errs)
	}
	// Two Gaussians of 2 are one of sqrt(2): epsilon 3.0126 at 1e-5 (Balle, Wang 2018).
	code, one, _ := weirEpsilon("--event", `{"gaussian":{"noise_multiplier":1.4142135623730951}}`, "--delta", "1e-5",
		"--json")
	if want := jsonNumber(t, one, "epsilon"); code != exitDone || len(v.Charges) != 2 || v.Total.Epsilon < want*(1-1e-6) ||
		v.Total.Epsilon > want*(1+1e-6) {
		t.Errorf("%+v, want 2 charges and epsilon %v", v, want)
	}
	code, out, errs = s.weir("ledger", "show", path)
	if code != exitDone || !strings.Contains(out, "train") || !strings.Contains(out, "together: epsilon") {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	if !strings.Contains(out, "for one row") || !strings.Contains(out, "nothing bounds runs chosen after looking") {
		t.Errorf("without a budget, show says %s", out)
	}
	if code, out, errs = s.weir("ledger", "show", path, "--unit", "patient:4"); code != exitDone ||
		!strings.Contains(out, "for one patient (at most 4 rows each)") ||
		!strings.Contains(out, "all that the table holds") {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	for _, unit := range []string{"patient", "patient:0", ":4", "row:1x"} {
		if code, _, errs = s.weir("ledger", "show", path, "--unit", unit); code != exitUsage || !strings.Contains(errs,
			"--unit: is") {
			t.Errorf("--unit %s: exit %d, %s", unit, code, errs)
		}
	}
	if code, _, errs = s.weir("ledger", "show", path, "--accountant", "nope"); code != exitUsage || !strings.Contains(errs,
		"nope") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs = s.weir("ledger", "show", path, "--delta", "2"); code != exitUsage || !strings.Contains(errs,
		"--delta: is 2") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, out, errs = s.weir("ledger", "show", path, "--adjacency", "replace_one", "--json"); code != exitDone ||
		!strings.Contains(out, `"replace_one"`) {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	if code, _, errs = s.weir("ledger", "show", s.path("absent")); code != exitUsage || !strings.Contains(errs, "absent") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestLedgerVerify: an edited, a reordered and a cut ledger are named by line, with exit code 4.
func TestLedgerVerify(t *testing.T) {
	s := study{t, t.TempDir()}
	path := newLedger(t, s, "a.weir-ledger.jsonl", "one", "two", "three")
	if code, out, errs := s.weir("ledger", "verify", path); code != exitDone || !strings.Contains(out, "3 charges") {
		t.Fatalf("exit %d, %s %s", code, out, errs)
	}
	lines := bytes.SplitAfter([]byte(s.read(filepath.Base(path))), []byte("\n"))
	for name, c := range map[string]struct{ text, want string }{
		"edited":  {strings.Replace(s.read(filepath.Base(path)), `"stage":"two"`, `"stage":"2"`, 1), "line 2"},
		"swapped": {string(lines[0]) + string(lines[2]) + string(lines[1]), "line 2"},
		"removed": {string(lines[1]) + string(lines[2]), "line 1"},
		"cut":     {string(lines[0]) + string(lines[1][:40]), "line 2"},
	} {
		s.write(name, c.text)
		code, _, errs := s.weir("ledger", "verify", s.path(name))
		if code != exitMismatch || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %q, want 4 and %s", name, code, errs, c.want)
		}
		code, out, _ := s.weir("ledger", "verify", s.path(name), "--json")
		if code != exitMismatch || !strings.Contains(out, `"ok": false`) || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d, %s", name, code, out)
		}
	}
}

func TestLedgerMerge(t *testing.T) {
	s := study{t, t.TempDir()}
	ours := newLedger(t, s, "ours.jsonl", "a", "b")
	theirs := newLedger(t, s, "theirs.jsonl", "c")
	if code, out, errs := s.weir("ledger", "merge", ours, theirs); code != exitDone || !strings.Contains(out, "merged") {
		t.Fatalf("exit %d, %s %s", code, out, errs)
	}
	if code, out, errs := s.weir("ledger", "verify", ours); code != exitDone || !strings.Contains(out, "3 charges") {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	if err := os.WriteFile(theirs, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := s.weir("ledger", "merge", ours, theirs); code != exitMismatch || !strings.Contains(errs,
		"line 1") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, out, _ := s.weir("ledger", "merge", ours, "--json"); code != exitDone || jsonNumber(t, out, "charges") != 3 {
		t.Errorf("merge of one: exit %d, %s", code, out)
	}
	if code, _, _ := s.weir("ledger", "merge", s.path("absent")); code != exitUsage {
		t.Errorf("merge of an absent file: exit %d, want 2", code)
	}
	if code, _, _ := s.weir("ledger", "merge"); code != exitUsage {
		t.Errorf("merge of nothing: exit %d, want 2", code)
	}
}
