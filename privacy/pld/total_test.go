package pld_test

import (
	"math"
	"testing"

	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/privacy/pld"
)

// TestTotalIsCharged: what a noisy number of units is charged for bounds its own
// hockey-stick divergence, which for a move of 1 has two terms: with a = e^(-1/b) the
// likelihood ratio is 1/a with probability 1/(1+a), else a.
func TestTotalIsCharged(t *testing.T) {
	for _, b := range []float64{0.5, 1, 3, 20} {
		m := mechanism.LaplaceTotal{NoiseMultiplier: b, Releases: 1}
		for _, adjacency := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			for _, part := range []float64{0, 0.25, 0.5, 0.9} {
				a, epsilon := math.Exp(-1/b), part/b
				ownValue := (1 - math.Exp(epsilon)*a) / (1 + a)
				charged, err := pld.New().Delta([]privacy.Event{m.Event(adjacency)}, adjacency, epsilon)
				if err != nil || charged < ownValue*(1-1e-9) || charged > ownValue*1.001 {
					t.Errorf("scale %g, %s: delta at epsilon %g is charged as %g, %v, must be %g", b, adjacency, epsilon, charged, err,
						ownValue)
				}
			}
		}
	}
}
