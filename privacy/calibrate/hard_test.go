package calibrate

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

func single(e func(s float64) privacy.Event) func(float64) []privacy.Event {
	return func(s float64) []privacy.Event { return []privacy.Event{e(s)} }
}

// TestTargetsFarApart: every accountant, targets from tiny to huge: the result is tight, or the error
// says what is reachable and that is above the target.
func TestTargetsFarApart(t *testing.T) {
	gaussian := single(func(s float64) privacy.Event { return privacy.Gaussian{NoiseMultiplier: s} })
	laplace := single(func(s float64) privacy.Event {
		return privacy.Repeated{Count: 10, Event: privacy.Laplace{NoiseMultiplier: s}}
	})
	for _, name := range account.Names() {
		acc := accountant(t, name)
		for what, events := range map[string]func(float64) []privacy.Event{"gaussian": gaussian, "laplace": laplace} {
			for _, eps := range []float64{1e-4, 0.03, 1, 30, 500} {
				for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
					tight(t, fmt.Sprintf("%s %s %g %s", name, what, eps, adj), acc, Target{eps, 1e-6, adj}, events)
				}
			}
		}
	}
}

func tight(t *testing.T, what string, acc privacy.Accountant, target Target, events func(float64) []privacy.Event) {
	t.Helper()
	s, err := Noise(acc, target, events)
	var out *InfeasibleError
	if errors.As(err, &out) {
		if !(out.Reachable > target.Epsilon) {
			t.Errorf("%s: out of reach, and yet %v is reachable", what, out.Reachable)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	eps, err := acc.Epsilon(events(s), target.Adjacency, target.Delta)
	if err != nil || !(eps <= target.Epsilon) || !(eps > 0.999*target.Epsilon) {
		t.Errorf("%s: multiplier %v has %v (%v)", what, s, eps, err)
	}
}

// TestDeltaZero: delta 0 needs pure releases: tight under basic, out of reach for a Gaussian.
func TestDeltaZero(t *testing.T) {
	laplace := single(func(s float64) privacy.Event { return privacy.Laplace{NoiseMultiplier: s} })
	gaussian := single(func(s float64) privacy.Event { return privacy.Gaussian{NoiseMultiplier: s} })
	for _, name := range []string{"pld", "rdp", "advanced", "basic"} {
		s, err := Noise(accountant(t, name), Target{0.5, 0, privacy.AddRemove}, laplace)
		if err != nil || s < 2 || s > 2*1.001 {
			t.Errorf("%s: %v, %v, want 2 and at most a thousandth more", name, s, err)
		}
		_, err = Noise(accountant(t, name), Target{0.5, 0, privacy.AddRemove}, gaussian)
		var out *InfeasibleError
		if !errors.As(err, &out) || !math.IsInf(out.Reachable, 1) {
			t.Errorf("%s: %v, want out of reach", name, err)
		}
	}
}

// TestJointNamesTheStage: a stage that the accountant does not know, or that nothing can be done about, is
// named; one that pays nothing worth mentioning takes the least noise.
func TestJointNamesTheStage(t *testing.T) {
	laplace := single(func(s float64) privacy.Event { return privacy.Laplace{NoiseMultiplier: s} })
	_, err := Joint(accountant(t, "zcdp"), Target{1, 1e-5, privacy.AddRemove}, []Stage{
		{Name: "count", Share: 0.5, Events: laplace}, {Name: "train", Share: 0.5, Events: sgd(0.01, 100)}})
	if !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("got %v, want that zcdp has no bound", err)
	}
	_, err = Joint(accountant(t, "rdp"), Target{1, 1e-5, privacy.AddRemove}, []Stage{
		{Name: "count", Share: 0.5, Events: laplace},
		{Name: "open", Share: 0.5, Events: func(float64) []privacy.Event {
			return []privacy.Event{privacy.Pure{Epsilon: 3}}
		}}})
	var out *InfeasibleError
	if !errors.As(err, &out) || !(out.Reachable > 1) {
		t.Errorf("got %v, want out of reach", err)
	}
}

// TestJointRatios: shares far apart, both adjacencies, an accountant that adds and two that compose.
func TestJointRatios(t *testing.T) {
	for _, name := range []string{"basic", "zcdp", "rdp", "pld"} {
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			acc, target := accountant(t, name), Target{2, 1e-6, adj}
			stages := []Stage{
				{Name: "a", Share: 0.02,
					Events: single(func(s float64) privacy.Event { return privacy.Laplace{NoiseMultiplier: s} })},
				{Name: "b", Share: 0.98, Events: single(func(s float64) privacy.Event {
					return privacy.Repeated{Count: 50, Event: privacy.Gaussian{NoiseMultiplier: s}}
				})}}
			m, err := Joint(acc, target, stages)
			if err != nil {
				t.Fatalf("%s %s: %v", name, adj, err)
			}
			a, _ := acc.Epsilon(stages[0].Events(m[0]), adj, target.Delta)
			b, _ := acc.Epsilon(stages[1].Events(m[1]), adj, target.Delta)
			all, _ := acc.Epsilon(append(stages[0].Events(m[0]), stages[1].Events(m[1])...), adj, target.Delta)
			if math.Abs(a/(a+b)-0.02) > 2e-4 || all > 2 || all <= 0.999*2 {
				t.Errorf("%s %s: alone %v and %v, together %v", name, adj, a, b, all)
			}
		}
	}
}

// broken knows no number below a noise of 10.
type broken struct{}

func (broken) Name() string { return "broken" }
func (broken) Epsilon(events []privacy.Event, _ privacy.Adjacency, _ float64) (float64, error) {
	sum := 0.0
	for _, e := range events {
		if m := e.(privacy.Laplace).NoiseMultiplier; m < 10 {
			return math.NaN(), nil
		} else {
			sum += 1 / m
		}
	}
	return sum, nil
}
func (broken) Delta([]privacy.Event, privacy.Adjacency, float64) (float64, error) { return 0, nil }

// TestNoNumberMeetsNoTarget: a search never settles where there is no number, and a fixed stage that has none
// leaves nothing to the others.
func TestNoNumberMeetsNoTarget(t *testing.T) {
	laplace := single(func(s float64) privacy.Event { return privacy.Laplace{NoiseMultiplier: s} })
	target := Target{0.5, 1e-6, privacy.AddRemove}
	if m, err := Noise(broken{}, target, laplace); err != nil || !(m >= 10) {
		t.Errorf("noise %v, %v, must be at least 10", m, err)
	}
	_, err := Joint(broken{}, target, []Stage{{Name: "fixed", Fixed: 1, Events: laplace},
		{Name: "open", Share: 1, Events: laplace}})
	if err == nil {
		t.Error("a fixed stage without a number leaves a budget")
	}
}

// jumping falls in one step: 2 where all noise together is below 9.3, else half of the target.
type jumping struct{ broken }

func (jumping) Epsilon(events []privacy.Event, _ privacy.Adjacency, _ float64) (float64, error) {
	sum := 0.0
	for _, e := range events {
		sum += e.(privacy.Laplace).NoiseMultiplier
	}
	if sum < 9.3 {
		return 2, nil
	}
	return 0.5, nil
}

// TestNoiseOfAllMeetsTheTargetAcrossAJump: where the epsilon of all noise jumps over the target,
// the noise that is kept is that on its near side, whichever side was tried last.
func TestNoiseOfAllMeetsTheTargetAcrossAJump(t *testing.T) {
	laplace := single(func(s float64) privacy.Event { return privacy.Laplace{NoiseMultiplier: s} })
	for _, least := range []float64{0.7, 1, 1.3, 1.9, 2.2, 3.1, 4} {
		j := newJoint(jumping{}, Target{1, 1e-6, privacy.AddRemove}, []Stage{{Share: 0.5, Events: laplace},
			{Share: 0.5, Events: laplace}})
		j.multipliers = []float64{least, least / 3}
		if err := j.raise(); err != nil {
			t.Fatal(err)
		}
		if eps, err := j.total(); err != nil || eps > 1 {
			t.Errorf("from %g: noise %v has epsilon %g, %v", least, j.multipliers, eps, err)
		}
	}
}

// threeStages returns a budget as papers split it: selection, an autoencoder, a GAN.
func threeStages() []Stage {
	return []Stage{
		{Name: "bounds", Share: 0.1, Events: func(s float64) []privacy.Event {
			return []privacy.Event{privacy.Laplace{NoiseMultiplier: s}}
		}},
		{Name: "encoder", Share: 0.3, Events: sgd(64.0/32561, 10000)},
		{Name: "gan", Share: 0.6, Events: sgd(128.0/32561, 15000)},
	}
}

func BenchmarkJoint(b *testing.B) {
	for _, name := range []string{"rdp", "pld"} {
		acc, err := account.ByName(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := Joint(acc, Target{1, 1e-5, privacy.AddRemove}, threeStages()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
