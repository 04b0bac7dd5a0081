package compile

import (
	"encoding/json"
	"math"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
)

// TestBillWithoutANumberIsRefused: no number is within any budget: comparisons with NaN are false.
func TestBillWithoutANumberIsRefused(t *testing.T) {
	for _, bill := range []float64{math.NaN(), math.Inf(1)} {
		c := &compiler{spec: &spec.Spec{Privacy: spec.Privacy{Epsilon: 1, Delta: 1e-6}}, plan: &Plan{Plan: &pipeline.Plan{}}}
		c.plan.Epsilon.Proven = &bill
		if c.overBudget(); len(c.faults) == 0 {
			t.Errorf("a bill of %g passes a budget of 1", bill)
		}
	}
}

// TestInfiniteArithmeticIsWritten: what a paper's arithmetic says beside a proof decides nothing, and where it is
// infinite it must not keep the plan from being written.
func TestInfiniteArithmeticIsWritten(t *testing.T) {
	plan := mustCompile(t, two, "privacy.claims=published", "stages.first.published=infinite",
		"privacy.split={first: 0.5, second: 0.5}")
	if _, err := json.Marshal(plan); err != nil {
		t.Error(err)
	}
}
