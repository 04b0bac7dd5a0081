package main

import (
	"os"
	"strings"
	"testing"
)

// TestLedgerContinue: a corrected table goes on with the budget of the old one.
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
	s.result("--set", "dataset.file=new.csv", "--set", "dataset.version=2")
	if after := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); after <= before {
		t.Errorf("%d charges after the run on new.csv, must be more than %d", after, before)
	}
	if _, err := os.Stat(s.path("new.csv.weir-ledger.jsonl")); err == nil {
		t.Error("new.csv has a ledger of its own")
	}
}

// TestLedgerContinueTakesCharges: a corrected copy with a ledger of its own once left
// a capped dataset with no way on. The refusal names the command, and the command
// leaves one ledger with the charges of both.
func TestLedgerContinueTakesCharges(t *testing.T) {
	s := newStudy(t, 400)
	s.result()
	s.write("other.csv", strings.ReplaceAll(s.read("data.csv"), "7,75433,b,1", "7,75434,b,1"))
	s.result("--set", "dataset.file=other.csv")
	s.edit("spec.yaml", "rows_public: 400}", "rows_public: 400, budget: {epsilon: 1.65, delta: 1e-6}}")
	code, _, errs := s.run("--fresh")
	command := "weir ledger continue " + s.path("data.csv") + " " + s.path("other.csv") + " --out " + s.path("runs")
	if code != exitPrivacy || !strings.Contains(errs, command) {
		t.Fatalf("exit %d, %s: must name %s", code, errs, command)
	}
	before := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n") +
		strings.Count(s.read("other.csv.weir-ledger.jsonl"), "\n")
	if code, out, errs := s.weir(strings.Fields(command)[1:]...); code != exitDone ||
		!strings.Contains(out, "former ledger is "+s.path("other.csv.weir-ledger.jsonl.joined")) {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	if after := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); after != before {
		t.Errorf("%d charges after, %d before in both, must be as many", after, before)
	}
	if code, _, errs := s.run("--fresh", "--set", "dataset.file=other.csv", "--set", "dataset.version=2"); code !=
		exitPrivacy || !strings.Contains(errs, "budget") {
		t.Errorf("exit %d, %s: must be over the budget of both", code, errs)
	}
	if code, out, errs := s.weir("ledger", "verify", s.path("data.csv.weir-ledger.jsonl")); code != exitDone {
		t.Errorf("exit %d, %s%s", code, out, errs)
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
