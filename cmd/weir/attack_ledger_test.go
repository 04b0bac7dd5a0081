package main

import (
	"strings"
	"testing"
)

// TestLedgerTakenBackUnderACopy: two files of one dataset, each under a folder of runs of its own, know of
// the ledger what it held when they were last run. Where it was taken back meanwhile (git checkout), the
// owner file that it lies beside knows more, and so has the last word on whichever file is run.
func TestLedgerTakenBackUnderACopy(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 60)
	s.edit("spec.yaml", "train: {kind: dp_wgan, steps: 40, expected_batch_size: 16, generator: [8], critic: [8], latent_dim: 4, generated_batch: 16, checkpoint_every: 10}", "train: {kind: independent}")
	s.edit("spec.yaml", "  encode: {kind: encode}\n", "")
	s.write("copy.csv", s.read("data.csv"))
	s.write("copy.yaml", strings.Replace(s.read("spec.yaml"), "data.csv", "copy.csv", 1))
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := s.weir(append([]string{"run", "--yes", "--fresh"}, args...)...)
		if code != want {
			t.Fatalf("weir run %v: exit code %d, must be %d: %s%s", args, code, want, out, errs)
		}
		return errs
	}
	run(0, s.path("spec.yaml"), "--out", s.path("runs"))
	run(0, s.path("copy.yaml"), "--out", s.path("other"))
	committed := s.read("data.csv.weir-ledger.jsonl")
	run(0, s.path("spec.yaml"), "--out", s.path("runs"))
	s.write("data.csv.weir-ledger.jsonl", committed)
	if errs := run(3, s.path("copy.yaml"), "--out", s.path("other")); !strings.Contains(errs, "weir ledger restore") {
		t.Errorf("is refused without a way on: %s", errs)
	}
	if code, _, errs := s.weir("ledger", "restore", s.path("data.csv"), "--out", s.path("runs")); code != 0 || s.charges() != 3 {
		t.Errorf("ledger restore: %d, %d charges, must be 3: %s", code, s.charges(), errs)
	}
	run(0, s.path("copy.yaml"), "--out", s.path("other"))
}
