package compile

import (
	"encoding/json"
	"math"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
)

// No number is within any budget: comparisons with NaN are false.
func TestBillWithoutANumberIsRefused(t *testing.T) {
	for _, bill := range []float64{math.NaN(), math.Inf(1)} {
		c := &compiler{spec: &spec.Spec{Privacy: spec.Privacy{Epsilon: 1, Delta: 1e-6}}, plan: &Plan{Plan: &pipeline.Plan{}}}
		c.plan.Epsilon.Proven = &bill
		if c.overBudget(); len(c.faults) == 0 {
			t.Errorf("a bill of %g passes a budget of 1", bill)
		}
	}
}

// Next to a stage without a proven bound nothing is refused, and a stage whose own
// epsilon is infinite must not keep the plan from being written.
func TestInfiniteStageIsWritten(t *testing.T) {
	plan := mustCompile(t, two, "privacy.claims=published", "stages.first.unproven=true",
		"stages.first.noise_multiplier=1", "stages.second.noise_multiplier=0.001")
	if _, err := json.Marshal(plan); err != nil {
		t.Error(err)
	}
}
