package published

import (
	"math"
	"testing"

	"weir/privacy"
	"weir/privacy/pld"
)

// TestJalkoRecomputesWhatIsPrinted: the sigmas of the paper's programs and the epsilons that
// they stand for (PAPERS section 5): the mixtures of Adult, whose labels are 1.1, 2, 4, 8, 14;
// .35 of ARD and its labels 1, 2, 4, for which the noise is known to three digits.
func TestJalkoRecomputesWhatIsPrinted(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		steps       int64
		delta, want float64
	}{
		{.005, 13.39, 80000, 1e-5, 1.06}, {.005, 7.54, 80000, 1e-5, 1.90}, {.005, 4.07, 80000, 1e-5, 3.62},
		{.005, 2.14, 80000, 1e-5, 7.42}, {.005, 1.37, 80000, 1e-5, 13.2},
		{.005, 15.4, 10000, 1e-6, .35}, {.005, 7.39, 10000, 1e-6, .74}, {.005, 2.87, 10000, 1e-6, 1.99}, {.005, 1.60, 10000, 1e-6, 3.92},
	} {
		got, err := Jalko(c.delta, Phase{c.rate, c.noise, c.steps})
		if err != nil || math.Abs(got-c.want) > max(.005, .0025*c.want) {
			t.Errorf("%g noise, %d steps: epsilon %.4f (%v), must be %g", c.noise, c.steps, got, err, c.want)
		}
	}
}

// TestJalkoSplitsATailoredBudget: the twenty sigmas of the tailored regressions stand for
// epsilon/T (PAPERS section 5), the last one, 56.7, because orders end below 500. Three
// digits of a sigma leave 1 %.
func TestJalkoSplitsATailoredBudget(t *testing.T) {
	parts := []float64{2, 5, 10, 20}
	for epsilon, sigmas := range map[float64][]float64{1.1: {3.70, 9.00, 18.0, 56.7}, 2: {2.14, 5.03, 9.94, 19.8},
		4: {1.29, 2.61, 5.03, 9.94}, 8: {.904, 1.48, 2.61, 5.03}, 14: {.730, 1.07, 1.63, 2.95}} {
		for i, sigma := range sigmas {
			want := epsilon / parts[i]
			if got, err := Jalko(1e-5, Phase{.002, sigma, 10000}); err != nil || math.Abs(got-want) > .01*want {
				t.Errorf("%g by %g, noise %g: %.4f (%v), must be %.4f", epsilon, parts[i], sigma, got, err, want)
			}
		}
	}
}

// TestJalkoIsNotProven: for Poisson batches the proven number under replace_one is another
// one, and smaller at these settings.
func TestJalkoIsNotProven(t *testing.T) {
	phase := Phase{.005, 4.07, 80000}
	printed, err := Jalko(1e-5, phase)
	if err != nil {
		t.Fatal(err)
	}
	proven, err := pld.New().Epsilon(Events(phase), privacy.ReplaceOne, 1e-5)
	if err != nil || proven > .85*printed || proven < .7*printed {
		t.Errorf("proven %.4f (%v), printed %.4f", proven, err, printed)
	}
}
