package pld

import (
	"math"
	"testing"

	"weir/internal/bitmath"
)

// TestCumulantHasTheBitsOfAllTerms: the sum that ends where no term changes it has the bits of the sum to the end, for
// masses that rise, fall and lie in the middle.
func TestCumulantHasTheBitsOfAllTerms(t *testing.T) {
	const n = 4000
	for _, center := range []float64{0, 50, n / 2, n - 1} {
		g := &grid{h: 1e-3, lo: -n / 2, mass: make([]float64, n)}
		for i := range g.mass {
			x := (float64(i) - center) / 40
			g.mass[i] = bitmath.Exp(-x * x / 2)
		}
		g.normalise()
		for s := 1e-3; s < 1e7; s *= 7 {
			for _, sign := range []float64{1, -1} {
				if got, want := g.ownCumulant(sign*s), wholeCumulant(g, sign*s); got != want {
					t.Errorf("center %g, order %g: %v, must be %v", center, sign*s, got, want)
				}
			}
		}
	}
}

// wholeCumulant sums every mass, from the end that weighs most.
func wholeCumulant(g *grid, s float64) float64 {
	n := len(g.mass)
	sum, w, r := 0.0, 1.0, bitmath.Exp(-math.Abs(s)*g.h)
	for i := range g.mass {
		index := i
		if s >= 0 {
			index = n - 1 - i
		}
		sum += float64(g.mass[index] * w)
		w *= r
	}
	end := g.lo
	if s >= 0 {
		end = g.lo + n - 1
	}
	return float64(s*float64(end)*g.h) + bitmath.Log(sum)
}
