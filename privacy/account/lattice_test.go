package account

import (
	"math"
	"testing"

	"weir/privacy"
)

// TestDivergenceHasNoSteps: (order-1) times a divergence is convex in the order and the divergence grows:
// a part of the integral that a walk misses shows as a step. At rate 0.00256 and
// noise 6.24 a walk from the far mode once ended at the zero of the excess.
func TestDivergenceHasNoSteps(t *testing.T) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, q := range []float64{1e-9, 1e-4, 0.0025638, 0.02, 0.5, 0.999} {
			for _, s := range []float64{0.05, 0.1, 0.5, 1, 6.24, 10, 1e4} {
				noSteps(t, q, s, adj)
			}
		}
	}
}

func noSteps(t *testing.T, q, s float64, adj privacy.Adjacency) {
	t.Helper()
	last, slope := 0.0, 0.0
	for i := -40; i <= 140; i++ {
		order := 1 + math.Pow(10, float64(i)/20)
		r := PoissonGaussian(q, s, order, adj)
		if math.IsNaN(r) || r < last*(1-1e-9) {
			t.Errorf("%s q=%g s=%g order %g: %v after %v", adj, q, s, order, r, last)
		}
		// A convex cumulant with value 0 at order 1 has a growing mean slope, which
		// is the divergence; between orders its slope grows too.
		previous := 1 + math.Pow(10, float64(i-1)/20)
		current := ((order-1)*r - (previous-1)*last) / (order - previous)
		if i > -40 && current < slope*(1-1e-6) {
			t.Errorf("%s q=%g s=%g order %g: slope %v after %v", adj, q, s, order, current, slope)
		}
		if i > -40 {
			slope = current
		}
		last = r
	}
}

// TestGaussianMoment: even forward differences against their alternating sum, sum over i of
// (-1)^i C(l,i) e^(i(i-1)/(2 s^2)), where that keeps its digits, and against
// the moment of a narrow loss, (l-1)!!/s^l, where s is large.
func TestGaussianMoment(t *testing.T) {
	for _, s := range []float64{0.3, 0.7, 1, 2} {
		for _, l := range []int{2, 4, 8} {
			sum := 0.0
			for i := 0; i <= l; i++ {
				term := math.Exp(logComb(float64(l), float64(i)) + float64(i*(i-1))/(2*s*s))
				sum += term * math.Pow(-1, float64(l-i))
			}
			if got := gaussianMoment(s, l); math.Abs(got-math.Log(sum)) > 1e-7 {
				t.Errorf("s=%g l=%d: got %v, want %v", s, l, got, math.Log(sum))
			}
		}
	}
	for _, l := range []int{2, 4, 64, 256} {
		want := -float64(l) * math.Log(1e5)
		for k := 1; k < l; k += 2 {
			want += math.Log(float64(k))
		}
		if got := gaussianMoment(1e5, l); math.Abs(got-want) > 1e-2 {
			t.Errorf("s=1e5 l=%d: got %v, want %v", l, got, want)
		}
	}
}
