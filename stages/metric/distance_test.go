package metric_test

import (
	"math"
	"testing"

	"weir/stages/metric"
)

// TestKolmogorovLimit: scipy.special.kolmogorov at 0.5, 1 and 1.36.
func TestKolmogorovLimit(t *testing.T) {
	const n = 2_000_000 // of each, so that sqrt(nm/(n+m)) is 1000
	for x, want := range map[float64]float64{0.5: 0.9639452436648751, 1: 0.26999967167735456, 1.36: 0.04948587675537985} {
		if got := metric.KSLimit(x/1000, n, n); math.Abs(got-want) > 1e-12 {
			t.Errorf("the limit at %v is %v, must be %v", x, got, want)
		}
	}
	if p, exact := metric.KSP(0, 5, 5, metric.ExactSteps); metric.KSLimit(0, 5, 5) != 1 || p != 1 || !exact {
		t.Error("equal samples have a p-value below 1")
	}
}

// TestKSP: exact where it can be afforded, said so.
func TestKSP(t *testing.T) {
	if _, exact := metric.KSP(0.1, 5000, 5000, metric.ExactSteps); !exact {
		t.Error("25 million lattice points are not exact")
	}
	if _, exact := metric.KSP(0.1, 5001, 5000, metric.ExactSteps); exact {
		t.Error("more than 25 million lattice points are exact")
	}
	if p, _ := metric.KSP(0.1, 0, 10, metric.ExactSteps); !math.IsNaN(p) {
		t.Errorf("p of an empty sample is %v", p)
	}
}

// TestNothingToCompare: empty samples and distributions have no distance, and no test.
func TestNothingToCompare(t *testing.T) {
	if d := metric.NewNumericDistances(nil, []float64{1}); !math.IsNaN(d.KS) || !math.IsNaN(d.Wasserstein) ||
		!math.IsNaN(d.Energy) {
		t.Errorf("distances to an empty sample are %+v", d)
	}
	if d := metric.NewDiscreteDistances([]float64{0, 0}, []float64{1, 0}); !math.IsNaN(d.TotalVariation) ||
		!math.IsNaN(d.MuSmoothedKL) {
		t.Errorf("distances to an empty distribution are %+v", d)
	}
	for _, counts := range [][2][]int64{{{0, 0}, {1, 2}}, {{3, 0}, {2, 0}}} {
		if _, err := metric.TwoSampleChiSquare(counts[0], counts[1]); err == nil {
			t.Errorf("%v were tested", counts)
		}
	}
}
