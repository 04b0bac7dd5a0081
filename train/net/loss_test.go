package net

import (
	"math"
	"testing"
)

// TestLogistic: the loss is ln(1+exp(sign*y)) and its gradient that of differences, also far
// out, where exp overflows.
func TestLogistic(t *testing.T) {
	scores := []float64{-800, -3, -0.5, 0, 0.25, 2, 800}
	for _, sign := range []float64{-1, 1} {
		y, dy, loss := NewMatrix(len(scores), 1), NewMatrix(len(scores), 1), make([]float64, len(scores))
		for i, v := range scores {
			y.Row(i)[0] = float32(v)
		}
		Logistic(dy, y, float32(sign), loss)
		for i, v := range scores {
			of := func(v float64) float64 { return math.Max(0, sign*v) + math.Log1p(math.Exp(-math.Abs(v))) }
			if math.Abs(loss[i]-of(v)) > 1e-9 {
				t.Errorf("loss of %g, sign %g: %g, must be %g", v, sign, loss[i], of(v))
			}
			if want := (of(v+1e-4) - of(v-1e-4)) / 2e-4; math.Abs(float64(dy.Row(i)[0])-want) > 1e-6 {
				t.Errorf("gradient at %g, sign %g: %g, must be %g", v, sign, dy.Row(i)[0], want)
			}
		}
	}
}
