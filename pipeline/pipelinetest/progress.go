package pipelinetest

import (
	"fmt"

	"weir/pipeline"
)

// checkProgress: what a stage reports is of one total that it keeps, never more than all of
// it, and all of it at the end. A stage that samples rows learns in many steps, and says
// where it stands.
func checkProgress(t reporter, c Case) {
	o := c.recorded(1)
	if o.err != nil {
		return // checkOutputs says so
	}
	for _, fault := range o.sight.progressFaults() {
		t.Errorf("progress: %s: %s", o.sight.reports(), fault)
	}
	if len(o.sight.progress) == 0 && learns(o.ledger.Plan, c) {
		t.Error("a stage that learns from samples of rows reports no progress")
	}
}

// learns reports whether a stage pays for samples.
func learns(plan []pipeline.Planned, c Case) bool {
	for _, p := range plan {
		if sampled(p.Value, c.adjacency()) {
			return true
		}
	}
	return false
}

func (s *sight) progressFaults() (faults []string) {
	ends := len(s.progress) == 0
	for at := range s.progress {
		done, total := at[0], at[1]
		switch {
		case total <= 0 || done < 0 || done > total:
			faults = append(faults, fmt.Sprintf("%d of %d is no share", done, total))
		case total != s.last[1]:
			faults = append(faults, fmt.Sprintf("the total is %d at first and %d at the end", total, s.last[1]))
		}
		ends = ends || done == total
	}
	if !ends {
		faults = append(faults, "the end is not reached")
	}
	return faults
}
