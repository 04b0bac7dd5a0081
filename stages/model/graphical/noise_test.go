package graphical

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/internal/stattest"
	"weir/privacy"
)

// watching keeps what goes into each release, over its sigma, and what comes out.
type watching struct{ seen []privacy.Released }

func (w *watching) Release(r privacy.Released) any {
	w.seen = append(w.seen, r)
	return r.Out
}

// residuals returns the noise of each release of a run of independent on four columns of
// five categories, and its sigma, which is sqrt(2) times the multiplier: four releases
// of squares 2/sigma^2 share 4/M^2.
func residuals(t *testing.T, multiplier float64, key byte) (noise [][]int64, sigma float64) {
	t.Helper()
	column := []int{0, 0, 0, 1, 1, 2, 4}
	probe := &watching{}
	a := attempt{stage: independentKind().New(), in: table([]int{5, 5, 5, 5}, column, column, column, column),
		multiplier: multiplier, key: key, probe: probe}
	a.run(t)
	sigma = math.Sqrt2 * multiplier
	for _, r := range probe.seen {
		in, out := r.In.(privacy.Round), r.Out.([]int64)
		if planned := in.Sensitivity.Bound / math.Sqrt(in.Cost); math.Abs(planned-sigma) > 1e-9*sigma {
			t.Fatalf("a release has the noise %g, must have %g", planned, sigma)
		}
		one := make([]int64, len(out))
		for i, count := range in.In.([]int64) {
			one[i] = out[i] - count
		}
		noise = append(noise, one)
	}
	return noise, sigma
}

// TestNoiseOfTheStage: over 200 runs the noise of counts is the rounded Gaussian of
// the planned sigma, with mean 0; no two columns share it. Right noise fails the first
// test at a rate of 1e-6, the second at 1e-6 (4.9 standard deviations); noise 10 % too
// small fails the first.
func TestNoiseOfTheStage(t *testing.T) {
	var all []int64
	for key := range byte(200) {
		noise, _ := residuals(t, 2, key)
		if len(noise) != 4 {
			t.Fatalf("%d releases of four columns", len(noise))
		}
		for i, one := range noise {
			all = append(all, one...)
			for _, other := range noise[:i] {
				if slices.Equal(one, other) && key < 3 { // 20 numbers agree at 1e-6 or less
					t.Errorf("two columns have the noise %v", one)
				}
			}
		}
	}
	sigma, mean := 2*math.Sqrt2, 0.0
	for _, x := range all {
		mean += float64(x) / float64(len(all))
	}
	if sd := math.Sqrt(variance(sigma) / float64(len(all))); math.Abs(mean) > 4.9*sd {
		t.Errorf("the mean of the noise is %g, of standard deviation %g", mean, sd)
	}
	if p := fits(all, sigma); p < 1e-6 {
		t.Errorf("the noise is not N(0, %g^2), rounded: p = %g", sigma, p)
	}
	if p := fits(all, 1.1*sigma); p > 1e-6 {
		t.Errorf("the test takes noise for that of 1.1 times its sigma: p = %g", p)
	}
}

// fits returns the p-value of integers as rounded Gaussian noise.
func fits(x []int64, sigma float64) float64 {
	const reach = 30
	counts, probabilities := make([]int, 2*reach+1), make([]float64, 2*reach+1)
	law := distuv.Normal{Sigma: sigma}
	for k := range probabilities {
		at := float64(k - reach)
		probabilities[k] = law.CDF(at+0.5) - law.CDF(at-0.5)
	}
	for _, v := range x {
		counts[v+reach]++
	}
	return stattest.ChiSquare(counts, probabilities, len(x))
}
