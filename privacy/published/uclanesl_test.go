package published

import (
	"math"
	"testing"
)

// TestUCLANESLBranch: Colorado (661,967 rows, delta 1/n^2, 10 epochs of batches of 64, 4
// tensors) at the budgets of both accountants. For .3 PAPERS section 2 prints T 103,440,
// epsilon a step 1.318, sigma 5.81 and a stop after T/4 steps; .7 and 5 are still their
// branches, whose multipliers the program has as numbers.
func TestUCLANESLBranch(t *testing.T) {
	u := UCLANESL{Rows: 661967, Batch: 64, Epochs: 10, Tensors: 4, Orders: 32}
	delta := 1 / (661967.0 * 661967)
	if u.Steps() != 103440 {
		t.Fatalf("%d steps, want 103440", u.Steps())
	}
	b := u.Branch(0.3, delta)
	if !b.Amortized || b.Steps != 103440/4 || math.Abs(b.NoiseMultiplier-5.81) > 0.005 {
		t.Errorf("at .3: %+v, want the amortised accountant, 25860 steps, sigma 5.81", b)
	}
	// After T/4 steps of 4 charges: sqrt(T) ln(1 + q(e^1.318 - 1)).
	want := math.Sqrt(103440) * math.Log1p(64.0/661967*math.Expm1(1.318))
	if got, err := u.Reported(b, delta); err != nil || math.Abs(got-want) > 1e-3*want {
		t.Errorf("at .3 its accountant reports %g (%v), want %g", got, err, want)
	}
	for epsilon, multiplier := range map[float64]float64{0.71: 3, 1: 3, 5: 3, 5.01: 1, 8: 1} {
		if b := u.Branch(epsilon, delta); b.Amortized || b.NoiseMultiplier != multiplier {
			t.Errorf("at %g: %+v, want the moments accountant and a multiplier of %g", epsilon, b, multiplier)
		}
	}
	if b := u.Branch(0.7, delta); !b.Amortized {
		t.Error("at .7 the moments accountant")
	}
}

// TestBranchStopsWithinTheBudget: at the stop the report is within the budget, one step
// later it is not, unless the epochs have ended.
func TestBranchStopsWithinTheBudget(t *testing.T) {
	for _, rows := range []int64{500, 3000, 27253} {
		u := UCLANESL{Rows: rows, Batch: 64, Epochs: 10, Tensors: 4, Orders: 32}
		for _, epsilon := range []float64{1, 3, 8} {
			b := u.Branch(epsilon, 1e-9)
			at, err := u.Reported(b, 1e-9)
			if err != nil || b.Steps > 0 && at > epsilon {
				t.Errorf("%d rows, budget %g: %g reported after %d steps (%v)", rows, epsilon, at, b.Steps, err)
			}
			b.Steps++
			if over, _ := u.Reported(b, 1e-9); over <= epsilon && b.Steps <= u.Steps() {
				t.Errorf("%d rows, budget %g: stops at %d steps, before the budget ends", rows, epsilon, b.Steps-1)
			}
		}
	}
}
