package mechanism

import (
	"math"
	"testing"
)

// TestSumsLieOnTheLattice: whatever low bits go in, none come out.
func TestSumsLieOnTheLattice(t *testing.T) {
	sum := GaussianSum{1, 0.7, 3, 100}
	step, _, err := grid(0.7, 0.7, 3)
	if err != nil {
		t.Fatal(err)
	}
	h := open(sum, 0)
	for i := range 100 {
		in := []float64{1.0 / 3, math.Pi * float64(i), 1e-30}
		a, err := ReleaseSum(h, in)
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range a {
			if math.Mod(x, step) != 0 {
				t.Fatalf("number %d, %.17g, is no multiple of %g", j, x, step)
			}
		}
	}
	if x, err := ReleaseSum(open(sum, 0), []float64{math.NaN(), math.Inf(1), 0}); err != nil || math.IsNaN(x[0]) || math.IsInf(x[1], 0) {
		t.Errorf("NaN and Inf become %v, %v; must become noise", x, err)
	}
}

// TestGridPaysForRounding: the noise is sigma for each unit of what the rounded
// vectors of neighbours, whose every coordinate gains a whole step, are apart; and
// that is hardly more than without rounding.
func TestGridPaysForRounding(t *testing.T) {
	for _, dim := range []int{1, 7, 1000, 1 << 20} {
		for _, sigma := range []float64{1e-3, 1, 50, 1e4} {
			const bound = 3.0
			step, paid, err := grid(bound, sigma*bound, dim)
			if err != nil {
				t.Fatal(err)
			}
			apart := bound + step*math.Sqrt(float64(dim))
			if paid < sigma*apart || paid > sigma*bound*(1+0x1p-10+0x1p-40) || sigma < 100 && paid > sigma*bound*(1+0x1p-19) || paid/step < 16 || paid/step > 0x1p40 {
				t.Errorf("dim %d, noise %g: pays %.17g for %.17g, step %g", dim, sigma, paid, sigma*apart, step)
			}
		}
	}
	if _, _, err := grid(1, 0x1p30, 1); err == nil {
		t.Error("a lattice of more than 2^40 steps in the noise is accepted")
	}
}
