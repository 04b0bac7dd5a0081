package mechanism

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"weir/privacy"
)

// TestEventsSayWhatIsDrawn holds each event to the value that draws, under both
// adjacencies.
func TestEventsSayWhatIsDrawn(t *testing.T) {
	s := Scores{0.5, privacy.AddRemove, Moves{3, 6}, false, 2, 1}
	for _, c := range []struct {
		m              privacy.Mechanism
		added, replace privacy.Event
	}{
		{LaplaceCounts{7, 1}, privacy.DiscreteLaplace{NoiseMultiplier: 7}, privacy.DiscreteLaplace{NoiseMultiplier: 7}},
		{LaplaceTotal{7, 1}, privacy.DiscreteLaplace{NoiseMultiplier: 7}, privacy.Pure{Epsilon: math.Nextafter(1./7, 1)}},
		{GaussianHistogram{1.5, 1}, privacy.Gaussian{NoiseMultiplier: 1.5},
			privacy.Gaussian{NoiseMultiplier: 1.5 * math.Sqrt2 * (1 - 0x1p-50)}},
		{Votes{1.5, GaussianVotes, 9, 4, 5}, privacy.Repeated{Count: 20, Event: privacy.Gaussian{NoiseMultiplier: 1.5}},
			privacy.Repeated{Count: 20, Event: privacy.Gaussian{NoiseMultiplier: 3}}},
		{Votes{7, LaplaceVotes, 9, 4, 5}, privacy.Repeated{Count: 20, Event: privacy.DiscreteLaplace{NoiseMultiplier: 7}},
			privacy.Repeated{Count: 20, Event: privacy.Pure{Epsilon: math.Nextafter(1./7, 1)}}},
		{GaussianFilter{NoiseMultiplier: 1.5, Adjacency: privacy.AddRemove}, privacy.Gaussian{NoiseMultiplier: 1.5},
			privacy.Gaussian{NoiseMultiplier: 1.5}},
		{GaussianFilter{NoiseMultiplier: 1.5, Adjacency: privacy.ReplaceOne}, privacy.Gaussian{NoiseMultiplier: 0.75},
			privacy.Gaussian{NoiseMultiplier: 1.5}},
		{ZCDPFilter{2, privacy.AddRemove, 0}, privacy.ZCDP{Rho: 0.125}, privacy.ZCDP{Rho: 0.5}},
		{ZCDPFilter{2, privacy.ReplaceOne, 0}, privacy.ZCDP{Rho: 0.5}, privacy.ZCDP{Rho: 0.5}},
		{Exponential{s}, privacy.Exponential{Epsilon: 0.5}, privacy.Exponential{Epsilon: 0.5 * (2 + 0x1p-28)}},
		{NoisyMax{s}, privacy.Pure{Epsilon: 0.5}, privacy.Pure{Epsilon: 0.5 * (2 + 0x1p-28)}},
		{Quantile{0.25, 0, 1, 0.1, 2, privacy.ReplaceOne, 1, 0}, privacy.Exponential{Epsilon: 1.5*(1+0x1p-50) + 0x1p-34},
			privacy.Exponential{Epsilon: 2}},
		{Bounds{2, 0, 5, 0.1, 1}, privacy.DiscreteLaplace{NoiseMultiplier: 2}, privacy.DiscreteLaplace{NoiseMultiplier: 2}},
		{Partitions{1, 1e-6, 2, privacy.AddRemove, 1}, privacy.Approximate{Epsilon: 1, Delta: 1e-6},
			privacy.Approximate{Epsilon: 2, Delta: 1e-6}},
		{Partitions{1, 1e-6, 2, privacy.ReplaceOne, 1}, privacy.Approximate{Epsilon: 0.5, Delta: 1e-6},
			privacy.Approximate{Epsilon: 1, Delta: 1e-6}},
	} {
		if err := c.m.Check(); err != nil {
			t.Errorf("%+v: %v", c.m, err)
		}
		if a, r := c.m.Event(privacy.AddRemove), c.m.Event(privacy.ReplaceOne); a != c.added || r != c.replace {
			t.Errorf("%T: events are %+v and %+v, must be %+v and %+v", c.m, a, r, c.added, c.replace)
		}
	}
}

// TestEventsCountUses: n uses are n times one, and every event is valid.
func TestEventsCountUses(t *testing.T) {
	for _, r := range rows() {
		for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			one, seven := r.at(1, 1), r.at(1, 7)
			if err := errors.Join(privacy.Validate(one.Event(a)), privacy.Validate(seven.Event(a))); err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
			want := privacy.Event(privacy.Repeated{Count: 7, Event: one.Event(a)})
			if one.Uses() == privacy.AnyNumber {
				want = one.Event(a)
			}
			if got := seven.Event(a); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: seven uses are %+v, must be %+v", r.name, a, got, want)
			}
		}
	}
}

// TestGaussianEventsAreTheirSensitivity: what accountants make of the event, 1 or 2
// over its multiplier, is sensitivity over noise, never less.
func TestGaussianEventsAreTheirSensitivity(t *testing.T) {
	for sigma := 0.01; sigma < 1e6; sigma *= 1.37 {
		for _, c := range []struct {
			m     privacy.Mechanism
			sigma float64
		}{{GaussianHistogram{sigma, 1}, sigma}, {Votes{sigma, GaussianVotes, 5, 1, 1}, sigma},
			{GaussianFilter{NoiseMultiplier: sigma, Adjacency: "add_remove"}, 1},
			{GaussianFilter{NoiseMultiplier: sigma, Adjacency: "replace_one"}, 1}} {
			for a, accountant := range map[privacy.Adjacency]float64{privacy.AddRemove: 1, privacy.ReplaceOne: 2} {
				charged := accountant / c.m.Event(a).(privacy.Gaussian).NoiseMultiplier
				if due := c.m.Sensitivity(a).Bound / c.sigma; charged < due*(1-1e-15) || charged > due*(1+1e-12) {
					t.Errorf("%+v, %s: mu charged is %.17g, due %.17g", c.m, a, charged, due)
				}
			}
		}
	}
}

// TestSelectionCostsBothWays: the largest log ratio between any two neighbours is at
// most the event's epsilon, under the adjacency that is planned for and the other,
// and comes near: with halved epsilons it does not hold.
func TestSelectionCostsBothWays(t *testing.T) {
	scores := []float64{5, 5.5, 4, 4}
	for _, monotone := range []bool{false, true} {
		for _, plan := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			s := Scores{0.7, plan, Moves{1, 1.5}, monotone, 4, 1}
			for _, m := range []lawful{Exponential{s}, NoisyMax{s}} {
				for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
					low := -1.0
					if monotone && a == privacy.AddRemove {
						low = 0
					}
					loss, epsilon := worstLoss(m, scores, s.Moves.Under(a), low), s.epsilon(a)
					if loss > epsilon*(1+1e-9) || loss < epsilon/2 {
						t.Errorf("%T %+v, %s: loss %g, epsilon %g", m, s, a, loss, epsilon)
					}
				}
			}
		}
	}
}

// worstLoss tries all neighbours whose scores move by from*step, 0 or step.
func worstLoss(m lawful, scores []float64, step, low float64) (worst float64) {
	law := m.Probabilities(scores)
	for code := range 81 {
		other := append([]float64(nil), scores...)
		for i := range other {
			other[i] += []float64{low, 0, 1}[code%3] * step
			code /= 3
		}
		for i, p := range m.Probabilities(other) {
			worst = max(worst, math.Abs(math.Log(p/law[i])))
		}
	}
	return worst
}

// TestHandleOfAnotherKind: noise that was not paid for is not drawn.
func TestHandleOfAnotherKind(t *testing.T) {
	laplace, filter := LaplaceCounts{1, 5}, GaussianFilter{NoiseMultiplier: 1, Adjacency: privacy.AddRemove}
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	_, err := ReleaseCounts(open(filter, 0), []int64{1})
	note(err)
	_, err = Select(open(laplace, 0), []float64{1})
	note(err)
	_, err = ReleaseQuantile(open(laplace, 0), []float64{1})
	note(err)
	_, _, err = ReleaseBounds(open(laplace, 0), nil)
	note(err)
	_, err = ReleasePartitions(open(laplace, 0), map[string]int64{"a": 1})
	note(err)
	_, err = ReleaseIntegers(open(laplace, 0), []int64{1}, HistogramMoves(), 10)
	note(err)
	_, err = Choose(open(filter, 0), []float64{1}, Moves{1, 1}, 0.1)
	note(err)
	for i, err := range errs {
		if !errors.Is(err, privacy.ErrUses) {
			t.Errorf("call %d: error %v", i, err)
		}
	}
}

// TestFilterKeepsItsTotal under both adjacencies: what a histogram costs, that the
// rest can be spent to the end, and that no more can.
func TestFilterKeepsItsTotal(t *testing.T) {
	for a, d := range map[privacy.Adjacency]struct{ squares, total float64 }{privacy.AddRemove: {1, 0.25},
		privacy.ReplaceOne: {2, 1}} {
		m := GaussianFilter{NoiseMultiplier: 2, Adjacency: a}
		h := open(m, 0)
		if _, err := ReleaseIntegers(h, []int64{3, 4}, HistogramMoves(), 4); err != nil ||
			math.Abs(h.Left()-(d.total-d.squares/16)) > 1e-12 {
			t.Errorf("%s: after a histogram %g is left, %v", a, h.Left(), err)
		}
		if _, err := ReleaseIntegers(h, []int64{1}, Moves{1, 2}, m.Noise(Moves{1, 2}, h.Left()/2)); err != nil {
			t.Error(err)
		}
		if _, err := ReleaseIntegers(h, []int64{3, 4}, HistogramMoves(), m.Noise(HistogramMoves(), h.Left())); err != nil ||
			h.Left() > 1e-12 || h.Close() != nil {
			t.Errorf("%s: the rest: %v, %g is left, %v", a, err, h.Left(), h.Close())
		}
		if _, err := ReleaseIntegers(h, []int64{3, 4}, HistogramMoves(), 1e5); !errors.Is(err, privacy.ErrUses) ||
			h.Close() == nil {
			t.Errorf("%s: beyond the total: %v, closed %v", a, err, h.Close())
		}
	}
	h := open(GaussianFilter{NoiseMultiplier: 2, Adjacency: privacy.ReplaceOne}, 0)
	for _, d := range []Moves{{}, {1, 0}, {0, 1}, {2, 1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if _, err := ReleaseIntegers(h, []int64{1}, d, 100); err == nil {
			t.Errorf("sensitivity %+v is accepted", d)
		}
	}
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1), 0x1p60} {
		if _, err := ReleaseIntegers(h, []int64{1}, Moves{1, 1}, sigma); err == nil {
			t.Errorf("sigma %g is accepted", sigma)
		}
	}
}

// TestSilentFilter: multiplier 0, which only epsilon: inf plans, adds nothing in any
// number of rounds, has an event without a bound, and takes no sigma but 0.
func TestSilentFilter(t *testing.T) {
	m := GaussianFilter{NoiseMultiplier: 0, Adjacency: privacy.ReplaceOne}
	h := open(m, 0)
	for range 3 {
		if out, err := ReleaseIntegers(h, []int64{3, -4}, HistogramMoves(), 0); err != nil || out[0] != 3 || out[1] != -4 {
			t.Errorf("3 and -4 become %v, %v", out, err)
		}
	}
	if err := h.Close(); err != nil || !math.IsInf(h.Left(), 1) {
		t.Errorf("%v, %g is left", err, h.Left())
	}
	if _, err := ReleaseIntegers(open(m, 0), []int64{3}, HistogramMoves(), 1); err == nil {
		t.Error("a sigma is taken from a filter that adds none")
	}
	if m.Event(privacy.ReplaceOne) != (privacy.Gaussian{}) {
		t.Errorf("the event is %v", m.Event(privacy.ReplaceOne))
	}
}
