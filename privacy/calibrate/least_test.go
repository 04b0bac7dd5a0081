package calibrate

import (
	"errors"
	"math"
	"testing"
)

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
