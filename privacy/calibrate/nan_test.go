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
