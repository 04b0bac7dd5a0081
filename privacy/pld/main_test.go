package pld

import (
	"math"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

func TestMain(m *testing.M) { stattest.Sparing(m, 400) }

// TestHugeNoise: any finite noise is a valid event: more than a grid resolves has a bound all the
// same. Deltas below 1e-16 may cancel to 0. The total variation of a sampled Gaussian is q (2 Phi(mu/2) - 1), about
// q mu/sqrt(2 pi), with mu twice that for an exchange.
func TestHugeNoise(t *testing.T) {
	for i, s := range []float64{1e7, 1e9, 1e11, 1e20, 1e150, 1e200} {
		if i%stattest.Rounds(2, 1) > 0 { // an ordinary run takes 1e7, 1e11 and 1e150
			continue
		}
		for adj, change := range map[privacy.Adjacency]float64{privacy.AddRemove: 1, privacy.ReplaceOne: 2} {
			for _, e := range noisy(s) {
				delta, err := New().Delta([]privacy.Event{e}, adj, 0)
				low, err2 := New().Optimistic([]privacy.Event{e}, adj, 1e-30)
				high, err3 := New().Epsilon([]privacy.Event{e}, adj, 1e-30)
				if err != nil || err2 != nil || err3 != nil || !(delta >= 0 && delta < 1e-5) || !(low <= high && high < 1e-4) {
					t.Errorf("%#v %s: delta %v, epsilon from %v to %v (%v %v %v)", e, adj, delta, low, high, err, err2, err3)
				}
			}
			want := 0.1 * change / math.Sqrt(2*math.Pi) / math.Min(s, change/leastShift)
			got, err := New().Delta([]privacy.Event{sampled(0.1, s, 1)}, adj, 0)
			if err != nil || got < want*(1-1e-6) || got > 2*want*(1+1e-6) {
				t.Errorf("noise %v %s: delta %v, want %v or up to twice that (%v)", s, adj, got, want, err)
			}
		}
	}
}

// noisy returns events with noise s over a sum, or an epsilon of 1/s.
func noisy(s float64) []privacy.Event {
	inner := []privacy.Event{privacy.Gaussian{NoiseMultiplier: s}, privacy.Laplace{NoiseMultiplier: s},
		privacy.DiscreteLaplace{NoiseMultiplier: s},
		privacy.Pure{Epsilon: 1 / s}, privacy.RandomizedResponse{Epsilon: 1 / s}, privacy.Exponential{Epsilon: 1 / s}}
	out := append([]privacy.Event(nil), inner...)
	for _, e := range inner {
		out = append(out, privacy.PoissonSampled{SamplingRate: 0.1, Event: e})
	}
	return append(out, privacy.Composed{Events: inner}, privacy.Repeated{Count: 100, Event: sampled(0.1, s, 1)})
}
