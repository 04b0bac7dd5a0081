package bill

import (
	"math"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
)

// TestBillWithoutANumberIsRefused: no number is within any budget: comparisons with NaN are false.
func TestBillWithoutANumberIsRefused(t *testing.T) {
	for _, proven := range []float64{math.NaN(), math.Inf(1)} {
		s, plan := &spec.Spec{Privacy: spec.Privacy{Epsilon: 1, Delta: 1e-6}}, &pipeline.Plan{}
		plan.Epsilon.Proven = &proven
		b := New(s, plan, nil)
		if b.overBudget(); len(b.Faults) == 0 {
			t.Errorf("a bill of %g passes a budget of 1", proven)
		}
	}
}
