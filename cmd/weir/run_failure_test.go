package main

import (
	"strings"
	"testing"
)

// TestFailureBehindTheCharge: a free stage fails after a paid one. The error says that the
// charge stands and that a corrected spec does not make it again, and that is so.
func TestFailureBehindTheCharge(t *testing.T) {
	s := newStudy(t, 60)
	rare := ", where: {income: [7]}, max_tries: 1"
	s.edit("spec.yaml", "rows: 50", "rows: 50"+rare)
	code, _, errs := s.run()
	if code != exitFailed || !strings.Contains(errs, "The charge of train stands. It is not made again where train") {
		t.Fatalf("exit code %d, %q; must say that train was charged", code, errs)
	}
	s.edit("spec.yaml", rare, "")
	if got := s.result(); len(got.Charged) != 0 || got.From["train"] == "" {
		t.Errorf("the corrected spec charges %v and reuses %v, must charge nothing", got.Charged, got.From)
	}
}

// TestFailureBeforeTheCharge says nothing of one.
func TestFailureBeforeTheCharge(t *testing.T) {
	s := newStudy(t, 60)
	s.edit("data.csv", "12,", "x,")
	if code, _, errs := s.run(); code == exitDone || strings.Contains(errs, "charge of") {
		t.Errorf("exit code %d, %q; nothing was charged", code, errs)
	}
}
