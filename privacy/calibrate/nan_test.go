package calibrate

import (
	"math"
	"testing"

	"weir/privacy"
)

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

// A search never settles where there is no number, and a fixed stage that has none
// leaves nothing to the others.
func TestNoNumberMeetsNoTarget(t *testing.T) {
	laplace := single(func(s float64) privacy.Event { return privacy.Laplace{NoiseMultiplier: s} })
	target := Target{0.5, 1e-6, privacy.AddRemove}
	if m, err := Noise(broken{}, target, laplace); err != nil || !(m >= 10) {
		t.Errorf("noise %v, %v, must be at least 10", m, err)
	}
	_, err := Joint(broken{}, target, []Stage{{Name: "fixed", Fixed: 1, Events: laplace}, {Name: "open", Share: 1, Events: laplace}})
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
		j := newJoint(jumping{}, Target{1, 1e-6, privacy.AddRemove}, []Stage{{Share: 0.5, Events: laplace}, {Share: 0.5, Events: laplace}})
		j.multipliers = []float64{least, least / 3}
		if err := j.raise(); err != nil {
			t.Fatal(err)
		}
		if eps, err := j.total(); err != nil || eps > 1 {
			t.Errorf("from %g: noise %v has epsilon %g, %v", least, j.multipliers, eps, err)
		}
	}
}
