package noise

import (
	"fmt"
	"math"
	"testing"

	"weir/internal/stattest"
)

// gaussianDelta is the exact delta of the Gaussian mechanism at epsilon for
// sensitivity 1 (Balle, Wang 2018, theorem 8).
func gaussianDelta(sigma, epsilon float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(0.5/sigma-epsilon*sigma) - math.Exp(epsilon)*phi(-0.5/sigma-epsilon*sigma)
}

// latticeAttack releases a sum of contributions with and without the last, by
// the lattice, and returns what thresholding along that contribution proves.
func latticeAttack(t *testing.T, sigma, delta float64) float64 {
	t.Helper()
	const n, dim = 40000, 4
	l, err := NewLattice(1, sigma, dim, 2)
	if err != nil {
		t.Fatal(err)
	}
	var hits [2]int
	for i := range n {
		for side := range hits {
			sum := []float32{0.3, -0.7, 0.1, 2}
			for j := range sum {
				sum[j] += float32(l.Clip/2) * float32(1-side)
			}
			RoundToLattice(sum, l.Step)
			mustStream(NewSource(Key{9}, fmt.Sprint(i, side)), "attack", 0).LatticeGaussian(sum, sigma, l.Step)
			along := (float64(sum[0]) - 0.3 + float64(sum[1]) + 0.7 + float64(sum[2]) - 0.1 + float64(sum[3]) - 2) / 2
			if along > 1 {
				hits[side]++
			}
		}
	}
	return stattest.EpsilonLowerBound(hits[0], hits[1], n, delta)
}

// TestLatticeAttack: the attack stays below the claim of the Gaussian mechanism
// and passes it with half the noise (false-alarm rate 1e-6).
func TestLatticeAttack(t *testing.T) {
	const sigma, epsilon = 1.0, 1.0
	delta := gaussianDelta(sigma, epsilon)
	honest, halved := latticeAttack(t, sigma, delta), latticeAttack(t, sigma/2, delta)
	if honest > epsilon || honest < epsilon/4 || halved <= epsilon {
		t.Errorf("claim (%g, %g): the attack proves %g, with half the noise %g", epsilon, delta, honest, halved)
	}
}
