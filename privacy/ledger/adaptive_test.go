package ledger

import (
	"errors"
	"math"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

// A tree is a first charge and one of two others, chosen by what the first
// released. Its exact delta is known, so that a filter can be held against it.

// family is a kind of events, cheaper as the scale rises, and their exact delta
// at any log ratio, negative ones too.
type family struct {
	event func(scale float64) privacy.Event
	delta func(scale, epsilon float64) float64
}

func gaussians() family {
	return family{func(s float64) privacy.Event { return privacy.Gaussian{NoiseMultiplier: s} }, account.GaussianDelta}
}

func responses() family {
	return family{func(s float64) privacy.Event { return privacy.RandomizedResponse{Epsilon: 1 / s} },
		func(s, eps float64) float64 {
			p := 1 / (1 + math.Exp(-1/s))
			return max(0, p-math.Exp(eps)*(1-p)) + max(0, 1-p-math.Exp(eps)*p)
		}}
}

func approximates() family {
	return family{func(s float64) privacy.Event { return privacy.Approximate{Delta: 1 / s} },
		func(s, eps float64) float64 {
			return 1/s + (1-1/s)*max(0, 1-math.Exp(eps)) // with probability delta the row is shown
		}}
}

// dearest returns the smallest scale of f that the cap admits after first, +Inf if none.
func dearest(t *testing.T, limit Cap, first privacy.Event, f family) float64 {
	t.Helper()
	l, _ := newLedger(&memory{}, dataset, ticking())
	c := charge("first", 0)
	c.Event = first
	if _, err := l.Append(&limit, c); err != nil {
		return math.Inf(1)
	}
	admits := func(scale float64) bool {
		c := charge("second", 0)
		c.Event = f.event(scale)
		return l.Check(limit, c) == nil
	}
	low, high := 1e-3, 1e9
	if !admits(high) {
		return math.Inf(1)
	}
	for range 100 {
		if mid := math.Sqrt(low * high); admits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// TestFilterHoldsForAnyChoice: a randomized response, then the dearest of either family by its bit: together
// they keep to the cap. PLD by path does not: at epsilon 0.5 it lets a small
// Gaussian or an approximate release of delta 1e-5 follow, and the whole has 1.38e-5.
func TestFilterHoldsForAnyChoice(t *testing.T) {
	families := map[string]family{"gaussian": gaussians(), "response": responses(), "approximate": approximates()}
	for _, filter := range []string{"rdp", "basic"} {
		full := 0
		for _, limit := range []Cap{{Epsilon: 0.5, Delta: 1e-5}, {Epsilon: 1, Delta: 1e-3}, {Epsilon: 3, Delta: 1e-2}} {
			limit.Adjacency, limit.Filter = privacy.AddRemove, filter
			for _, share := range []float64{0.1, 0.5, 1} {
				bit := share * limit.Epsilon
				p := 1 / (1 + math.Exp(-bit))
				for one, f := range families {
					for other, g := range families {
						x, y := dearest(t, limit, privacy.RandomizedResponse{Epsilon: bit}, f),
							dearest(t, limit, privacy.RandomizedResponse{Epsilon: bit}, g)
						delta := p*f.after(x, limit.Epsilon-bit) + (1-p)*g.after(y, limit.Epsilon+bit)
						if delta > limit.Delta*(1+1e-9) {
							t.Errorf("%s, %+v, bit %g: %s of %g or %s of %g cost delta %g", filter, limit, bit, one, x, other, y, delta)
						}
						if !math.IsInf(x, 1) && !math.IsInf(y, 1) {
							full++
						}
					}
				}
			}
		}
		if full == 0 {
			t.Errorf("%s admits nothing: the test is empty", filter)
		}
	}
}

// after returns the exact delta of the family's event, or of nothing more.
func (f family) after(scale, epsilon float64) float64 {
	if math.IsInf(scale, 1) {
		return max(0, 1-math.Exp(epsilon))
	}
	return f.delta(scale, epsilon)
}

// TestGaussianFilterHoldsForAnyChoice: a Gaussian, then all that is left or nothing by whether it fell above a
// threshold: the sum of mu^2 keeps to the cap, and uses it.
func TestGaussianFilterHoldsForAnyChoice(t *testing.T) {
	limit := Cap{Epsilon: 1, Delta: 1e-4, Adjacency: privacy.AddRemove, Filter: "gaussian"}
	const first = 6.0
	second := dearest(t, limit, privacy.Gaussian{NoiseMultiplier: first}, gaussians())
	worst := 0.0
	for _, threshold := range []float64{-9, -1, 0, 0.5, 1, 2, 9} {
		delta, mu, h := 0.0, 1/first, 1e-3
		for x := -9.0; x < 9; x += h {
			loss := mu*x - mu*mu/2 // of N(mu, 1) against N(0, 1)
			branch := max(0, 1-math.Exp(limit.Epsilon-loss))
			if x > threshold {
				branch = account.GaussianDelta(second, limit.Epsilon-loss)
			}
			delta += h * math.Exp(-(x-mu)*(x-mu)/2) / math.Sqrt(2*math.Pi) * branch
		}
		worst = max(worst, delta)
		if delta > limit.Delta*(1+1e-6) {
			t.Errorf("threshold %g: the whole costs delta %g", threshold, delta)
		}
	}
	if worst < limit.Delta*(1-1e-3) {
		t.Errorf("a path that takes all has delta %g of %g", worst, limit.Delta)
	}
}

// TestFilterRefusesWhatItCannotMeasure: what a filter cannot measure is refused, whatever is left; the error names the
// charge and the filter.
func TestFilterRefusesWhatItCannotMeasure(t *testing.T) {
	sampled := privacy.PoissonSampled{SamplingRate: 0.01, Event: privacy.Gaussian{NoiseMultiplier: 9}}
	for filter, e := range map[string]privacy.Event{"rdp": privacy.Approximate{Delta: 1e-30}, "gaussian": sampled,
		"basic": privacy.Gaussian{NoiseMultiplier: 1e6}} {
		l, _ := newLedger(filled(t, 1), dataset, ticking())
		c := charge("x", 0)
		c.Event = e
		limit := Cap{Epsilon: 100, Delta: 1e-3, Adjacency: privacy.AddRemove, Filter: filter}
		if filter == "gaussian" {
			l, _ = newLedger(&memory{}, dataset, ticking())
		}
		if _, err := l.Append(&limit, c); !errors.Is(err, privacy.ErrUnsupported) || !containsAll(err.Error(),
			"stage train would spend sum", "filter "+filter) {
			t.Errorf("%s: %v", filter, err)
		}
	}
}
