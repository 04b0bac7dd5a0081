package main

import (
	"strings"
	"testing"
)

// TestCheckSeesEveryTrial: mistakes of an experiment's grid do not pass check, and all are told at once, whichever run
// has them. What only the noise of a combination shows is not looked for where no budget is set.
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
