package main

import (
	"os"
	"strings"
	"testing"
)

// TestLedgerContinue: a corrected table goes on with the budget of the old one,
// and one that has charges of its own is refused.
func TestLedgerContinue(t *testing.T) {
	s := newStudy(t, 300)
	s.result()
	rows := strings.SplitAfter(s.read("data.csv"), "\n")
	rows[5] = "9999,1,a,1\n"
	s.write("new.csv", strings.Join(rows, ""))
	code, out, errs := s.weir("ledger", "continue", s.path("data.csv"), s.path("new.csv"), "--out", s.path("runs"))
	ledger := s.path("data.csv.weir-ledger.jsonl")
	if code != exitDone || !strings.Contains(out, "charged to "+ledger) {
		t.Fatalf("exit %d, %s %s", code, out, errs)
	}
	before := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n")
	s.result("--set", "dataset.file=new.csv")
	if after := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); after <= before {
		t.Errorf("%d charges after the run on new.csv, must be more than %d", after, before)
	}
	if _, err := os.Stat(s.path("new.csv.weir-ledger.jsonl")); err == nil {
		t.Error("new.csv has a ledger of its own")
	}
	s.write("other.csv", strings.ReplaceAll(s.read("data.csv"), ",a,", ",b,"))
	s.run("--set", "dataset.file=other.csv", "--set", "privacy.acknowledge=[W32]")
	if code, _, errs := s.weir("ledger", "continue", ledger, s.path("other.csv"), "--out", s.path("runs")); code != exitPrivacy || !strings.Contains(errs, "charges in a ledger of its own") {
		t.Errorf("exit %d, %s: must be 3", code, errs)
	}
}

func TestLedgerContinueUsage(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("a.csv", "x\n1\n")
	for want, args := range map[string][]string{
		"is not known": {s.path("a.csv"), s.path("a.csv")},
		"absent.csv":   {s.path("a.csv"), s.path("absent.csv")},
		"OLD NEW":      {s.path("a.csv")},
	} {
		code, _, errs := s.weir(append([]string{"ledger", "continue", "--out", s.path("runs")}, args...)...)
		if code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s: must be 2 and say %q", args, code, errs, want)
		}
	}
}
