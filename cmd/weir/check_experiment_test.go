package main

import (
	"strings"
	"testing"
)

// TestCheckSeesEveryTrial: an experiment that run refuses does not pass check, and all
// that its runs refuse is told at once.
func TestCheckSeesEveryTrial(t *testing.T) {
	s := newStudy(t, 50)
	s.write("spec.yaml", s.read("spec.yaml")+"experiment:\n  grid:\n    privacy.epsilom: [1, 2]\n    "+
		"stages.train.steps: [10, ten]\n")
	code, _, errs := s.weir("check", s.path("spec.yaml"))
	if code != exitUsage || !strings.Contains(errs, "epsilom") || !strings.Contains(errs, "ten") {
		t.Errorf("exit %d, must be %d, and both mistakes named: %s", code, exitUsage, errs)
	}
	t.Log(errs)
}
