package calibrate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

func sgd(q float64, steps int64) func(float64) []privacy.Event {
	return func(s float64) []privacy.Event {
		return []privacy.Event{privacy.Repeated{Count: steps, Event: privacy.PoissonSampled{SamplingRate: q,
			Event: privacy.Gaussian{NoiseMultiplier: s}}}}
	}
}

func accountant(t *testing.T, name string) privacy.Accountant {
	t.Helper()
	acc, err := account.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return acc
}

// TestNoiseIsTight: the epsilon of a calibrated multiplier is in (0.999 target, target].
func TestNoiseIsTight(t *testing.T) {
	cases := []struct {
		name   string
		target Target
		events func(float64) []privacy.Event
	}{
		{"rdp", Target{1, 1e-5, privacy.AddRemove}, sgd(0.01, 1000)},
		{"rdp", Target{0.01, 1e-9, privacy.ReplaceOne}, sgd(0.001, 100)},
		{"rdp", Target{300, 1e-5, privacy.AddRemove}, sgd(0.01, 10000)},
		{"pld", Target{1, 1e-5, privacy.AddRemove}, sgd(0.01, 1000)},
		{"pld", Target{0.3, 1e-6, privacy.ReplaceOne}, sgd(0.004, 5000)},
		// Between a small target and 0, where delta alone covers a release, is not one step of noise.
		{"rdp", Target{1e-5, 1e-6, privacy.ReplaceOne}, sgd(1, 20)},
		{"rdp", Target{1e-6, 1e-6, privacy.ReplaceOne}, sgd(1, 1)},
		{"pld", Target{1e-6, 1e-6, privacy.AddRemove}, sgd(0.2, 20)},
		{"pld", Target{1e-10, 1e-6, privacy.AddRemove}, sgd(1, 20)},
		{"zcdp", Target{1, 1e-5, privacy.AddRemove}, func(s float64) []privacy.Event {
			return []privacy.Event{privacy.Gaussian{NoiseMultiplier: s}}
		}},
		{"moments", Target{2, 1e-5, privacy.AddRemove}, sgd(0.01, 10000)},
		{"advanced", Target{2, 1e-5, privacy.AddRemove}, sgd(0.01, 10000)},
		{"basic", Target{2, 1e-5, privacy.AddRemove}, func(s float64) []privacy.Event {
			return []privacy.Event{privacy.Laplace{NoiseMultiplier: s}}
		}},
	}
	for _, c := range cases {
		acc := accountant(t, c.name)
		s, err := Noise(acc, c.target, c.events)
		if err != nil {
			t.Errorf("%s %v: %v", c.name, c.target, err)
			continue
		}
		eps, err := acc.Epsilon(c.events(s), c.target.Adjacency, c.target.Delta)
		if err != nil || eps > c.target.Epsilon || eps <= 0.999*c.target.Epsilon {
			t.Errorf("%s %v: multiplier %v has epsilon %v, %v", c.name, c.target, s, eps, err)
		}
	}
}

// TestJointKeepsShares: all stages together are tight, each alone keeps its share of the sum.
func TestJointKeepsShares(t *testing.T) {
	for _, name := range []string{"rdp", "pld"} {
		acc, target, stages := accountant(t, name), Target{1, 1e-5, privacy.AddRemove}, threeStages()
		m, err := Joint(acc, target, stages)
		if err != nil {
			t.Fatal(err)
		}
		var all []privacy.Event
		alone, sum := make([]float64, 3), 0.0
		for i, s := range stages {
			all = append(all, s.Events(m[i])...)
			alone[i], _ = acc.Epsilon(s.Events(m[i]), target.Adjacency, target.Delta)
			sum += alone[i]
		}
		eps, err := acc.Epsilon(all, target.Adjacency, target.Delta)
		if err != nil || eps > 1 || eps <= 0.999 {
			t.Errorf("%s: together %v, %v, must be in (0.999, 1]", name, eps, err)
		}
		if sum <= 1 {
			t.Errorf("%s: the epsilons alone sum to %v: the factor of the shares was not raised", name, sum)
		}
		for i, s := range stages {
			if got := alone[i] / sum; math.Abs(got-s.Share) > 0.005*s.Share {
				t.Errorf("%s: stage %s has share %v, must be %v", name, s.Name, got, s.Share)
			}
		}
	}
}

func TestFixedStagesAreDeducted(t *testing.T) {
	acc, target := accountant(t, "rdp"), Target{1, 1e-5, privacy.AddRemove}
	stages := threeStages()
	stages[2].Fixed = 3
	m, err := Joint(acc, target, stages)
	if err != nil || m[2] != 3 {
		t.Fatalf("got %v, %v", m, err)
	}
	var all []privacy.Event
	for i, s := range stages {
		all = append(all, s.Events(m[i])...)
	}
	if eps, err := acc.Epsilon(all, target.Adjacency, target.Delta); err != nil || eps > 1 || eps <= 0.999 {
		t.Errorf("together %v, %v, must be in (0.999, 1]", eps, err)
	}
	stages[2].Fixed = 0.3
	if _, err := Joint(acc, target, stages); err == nil || !strings.Contains(err.Error(), "leave nothing") {
		t.Errorf("got %v, want that the fixed stage spends too much", err)
	}
}

// TestInfeasibleWhereNoEpsilonIs: no noise takes back the delta that an event has of its own.
func TestInfeasibleWhereNoEpsilonIs(t *testing.T) {
	events := func(s float64) []privacy.Event {
		return []privacy.Event{privacy.Approximate{Epsilon: 1 / s, Delta: 1e-5}, privacy.Laplace{NoiseMultiplier: s}}
	}
	_, err := Noise(accountant(t, "pld"), Target{1, 1e-6, privacy.AddRemove}, events)
	if err == nil || strings.Contains(err.Error(), "Inf") || !strings.Contains(err.Error(),
		"no finite epsilon was found") {
		t.Errorf("got %v", err)
	}
}

func TestInfeasibleSaysWhatIsReachable(t *testing.T) {
	fixed := func(s float64) []privacy.Event {
		return []privacy.Event{privacy.Pure{Epsilon: 2}, privacy.Laplace{NoiseMultiplier: s}}
	}
	_, err := Noise(accountant(t, "rdp"), Target{1, 1e-5, privacy.AddRemove}, fixed)
	var out *InfeasibleError
	if !errors.As(err, &out) || out.Reachable < 1.5 || out.Reachable > 2.001 {
		t.Errorf("got %v, want an InfeasibleError that reaches just below 2", err)
	}
	if _, err := Noise(accountant(t, "rdp"), Target{math.Inf(1), 1e-5, privacy.AddRemove}, fixed); !errors.Is(err,
		errNoTarget) {
		t.Errorf("got %v, want errNoTarget", err)
	}
}

// TestSteps: the number of steps found meets the target, one more does not.
func TestSteps(t *testing.T) {
	acc, target := accountant(t, "rdp"), Target{1, 1e-5, privacy.AddRemove}
	event := privacy.PoissonSampled{SamplingRate: 0.01, Event: privacy.Gaussian{NoiseMultiplier: 1.5}}
	n, err := Steps(acc, target, event)
	if err != nil || n < 1 {
		t.Fatalf("got %v, %v", n, err)
	}
	valueAt := func(n int64) float64 {
		eps, err := acc.Epsilon([]privacy.Event{privacy.Repeated{Count: n, Event: event}}, target.Adjacency, target.Delta)
		if err != nil {
			t.Fatal(err)
		}
		return eps
	}
	if valueAt(n) > 1 || valueAt(n+1) <= 1 {
		t.Errorf("%d steps have epsilon %v, one more %v", n, valueAt(n), valueAt(n+1))
	}
	if n, err := Steps(acc, target, privacy.Pure{Epsilon: 2}); n != 0 || err != nil {
		t.Errorf("got %d, %v, want 0 steps", n, err)
	}
}

// TestLeast: of a function in closed form, 1/noise, the least noise for an epsilon is
// 1/epsilon, met from above within the tightness of the search.
func TestLeast(t *testing.T) {
	for _, want := range []float64{1e-3, 0.36, 1, 63} {
		got, err := Least(want, func(m float64) (float64, error) { return 1 / m, nil })
		if err != nil || got*want < 1 || got*want > 1+2*tightness {
			t.Errorf("epsilon %g: noise %g (%v), must be %g", want, got, err, 1/want)
		}
	}
}

// TestLeastOfAFunctionWithGaps: no number is above every target, and where there is none at all
// the reason is told.
func TestLeastOfAFunctionWithGaps(t *testing.T) {
	gap := errors.New("no number here")
	got, err := Least(0.1, func(m float64) (float64, error) {
		if m < 5 {
			return 0, gap
		}
		return 1 / m, nil
	})
	if err != nil || math.Abs(got*0.1-1) > 2*tightness {
		t.Errorf("noise %g (%v), must be 10", got, err)
	}
	if _, err := Least(1, func(float64) (float64, error) { return 0, gap }); !errors.Is(err, gap) {
		t.Errorf("%v, must be the reason", err)
	}
	if _, err := Least(1, func(float64) (float64, error) { return 2, nil }); err == nil {
		t.Error("a function that never falls is met")
	}
	for _, want := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Least(want, func(m float64) (float64, error) { return 1 / m, nil }); err == nil {
			t.Errorf("a budget of %g is met", want)
		}
	}
	if _, err := Least(1, func(float64) (float64, error) { return math.NaN(), nil }); err == nil {
		t.Error("a function that is not a number meets a budget")
	}
}

// TestJointMeetsTinyBudgets: at noise of 1e7 six Gaussian events have an epsilon of 0 at these deltas,
// so that every one of these budgets is met by some noise. What is found meets it.
func TestJointMeetsTinyBudgets(t *testing.T) {
	gauss := func(s float64) []privacy.Event { return []privacy.Event{privacy.Gaussian{NoiseMultiplier: s}} }
	for _, name := range []string{"rdp", "pld"} {
		for _, target := range []Target{{1e-8, 1e-6, privacy.AddRemove}, {8e-7, 1e-6, privacy.ReplaceOne},
			{3e-6, 1e-6, privacy.AddRemove}, {1e-5, 0.01, privacy.AddRemove},
			{1e-14, 1e-5, privacy.AddRemove}, {3e-13, 1e-3, privacy.AddRemove}, {7e-14, 1e-4, privacy.ReplaceOne}} {
			acc := accountant(t, name)
			for _, shares := range [][]float64{{0.5, 0.5}, {0.1, 0.9}, {0.1, 0.1, 0.2, 0.2, 0.2, 0.2}} {
				var stages []Stage
				for _, share := range shares {
					stages = append(stages, Stage{Share: share, Events: gauss})
				}
				m, err := Joint(acc, target, stages)
				if err != nil {
					t.Errorf("%s, %v, shares %v: %v", name, target, shares, err)
					continue
				}
				var all []privacy.Event
				for _, s := range m {
					all = append(all, gauss(s)...)
				}
				if eps, err := acc.Epsilon(all, target.Adjacency, target.Delta); err != nil || eps > target.Epsilon {
					t.Errorf("%s, %v, shares %v: noise %v has epsilon %g, error %v", name, target, shares, m, eps, err)
				}
			}
		}
	}
}
