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

// TestCumulantEndsWhereNoTermCounts: the second of two masses near 1 counts down to half a unit in the last place of
// the first, 2^-54. Losses end at 0, so that the last bit of the sum is one of the cumulant.
func TestCumulantEndsWhereNoTermCounts(t *testing.T) {
	const h = 1e-3
	first, counted := 1-0x1p-53, 0
	for bits := 30.0; bits < 60; bits += 0.25 {
		s := bits * math.Ln2 / h
		up, down := &grid{h: h, lo: -1, mass: []float64{1, first}}, &grid{h: h, mass: []float64{first, 1}}
		want := wholeCumulant(up, s)
		if got, other := up.ownCumulant(s), down.ownCumulant(-s); got != want || other != want {
			t.Errorf("weight 2^-%g: %v and %v, must be %v", bits, got, other, want)
		}
		if want != bitmath.Log(first) {
			counted++
		}
	}
	if counted != 4*24 { // below 54 bits: at 54 the weight may round to either side
		t.Errorf("%d weights count, must be all above 2^-54", counted)
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
