package train

import (
	"math"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

// TestMeanEventCostsTheSameEitherWay: a changed shard moves the mean by the same
// distance whether a row comes, goes or is exchanged, so the epsilon is that of
// T Gaussians of NoiseMultiplier under both adjacencies (Balle, Wang 2018, closed
// form). A factor two applied twice, or not at all, is off by a factor.
func TestMeanEventCostsTheSameEitherWay(t *testing.T) {
	c := CriticQuery{NoiseMultiplier: 40, Steps: 100, BatchSize: 32, Critics: 1500, Query: QueryMean}
	want := account.GaussianEpsilon(c.NoiseMultiplier/math.Sqrt(float64(c.Steps)), 1e-5)
	pld, err := account.ByName("pld")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		got, err := pld.Epsilon([]privacy.Event{c.Event(a)}, a, 1e-5)
		if err != nil || math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: epsilon %g, %v, must be %g", a, got, err, want)
		}
	}
}
