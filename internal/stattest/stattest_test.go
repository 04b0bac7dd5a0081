package stattest

import (
	"math"
	"testing"
)

func TestReferenceValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		// statistic 20 with 5 degrees: mpmath gammainc(2.5, 10, regularized=True)
		{"chi-square", ChiSquare([]int{160, 180, 160, 140, 120, 120}, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6,
			1. / 6}, 880), 0.0012497305630313},
		// closed form: (1 + 20 + 190) / 2^20 in each tail
		{"binomial", Binomial(2, 20, 0.5), 2 * (1 + 20 + 190) / math.Exp2(20)},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: is %.12g, must be %.12g", c.name, c.got, c.want)
		}
	}
	// Closed form: no success in n trials has upper bound 1 - alpha^(1/n).
	low, high := ClopperPearson(0, 50, 0.01)
	if want := 1 - math.Pow(0.01, 1.0/50); low != 0 || math.Abs(high-want) > 1e-9 {
		t.Errorf("Clopper-Pearson of 0 in 50: is [%g, %g], must be [0, %g]", low, high, want)
	}
}

func TestImpossibleCellIsRejected(t *testing.T) {
	if p := ChiSquare([]int{50, 45}, []float64{0.5, 0.5}, 100); p != 0 {
		t.Errorf("five draws outside a full partition: p is %g, must be 0", p)
	}
}

func TestEpsilonLowerBoundApproachesTruth(t *testing.T) {
	// Randomized response at ln 3: says the truth 3 times in 4.
	got := EpsilonLowerBound(750000, 250000, 1000000, 0)
	if got > math.Log(3) || got < math.Log(3)-0.02 {
		t.Errorf("bound is %g, must lie just below %g", got, math.Log(3))
	}
	if got := EpsilonLowerBound(0, 10, 100, 0.1); !math.IsInf(got, -1) {
		t.Errorf("bound of a useless attack is %g, must be -Inf", got)
	}
}
