package question

import (
	"math"
	"testing"
)

// TestInverseOfWhatRoundingHides: a prior of 1e-6 beside an information of 1e12 is lost in
// rounding: eigenvalues near 0 come out below it, or below 0, as the rows have it. None may end
// a run: whether rows are collinear is private.
func TestInverseOfWhatRoundingHides(t *testing.T) {
	const least = 1e-6
	for _, tilt := range []float64{0, 1e-9, 1, 3, 7.7} {
		// the outer product of (1, tilt, 1): one eigenvalue of 1e12 and more, two of least
		x := []float64{1, tilt, 1}
		m := make([][]float64, 3)
		for i := range m {
			m[i] = make([]float64, 3)
			for j := range m[i] {
				m[i][j] = float64(1e12 * x[i] * x[j])
			}
			m[i][i] += least
		}
		got, err := inverse(m, least)
		if err != nil {
			t.Errorf("tilt %g: %v", tilt, err)
			continue
		}
		for i := range got {
			if v := got[i][i]; !(v > 0 && v <= (1+1e-9)/least) || math.IsNaN(v) {
				t.Errorf("tilt %g: variance %d is %g, must be above 0 and at most 1/%g", tilt, i, v, least)
			}
		}
	}
}

// TestWhole: numbers are rounded as math.RoundToEven does, up to the largest that is allowed.
func TestWhole(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1.5, -2.5, 0.49999999999999994, 1 << 20,
		-(1<<20 + 0.5), 1<<51 - 0.5, -(1<<51 - 0.5), 1e-300} {
		if got := whole(v); got != int64(math.RoundToEven(v)) {
			t.Errorf("%g is %d, must be %g", v, got, math.RoundToEven(v))
		}
	}
}
