package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSimplexByHand: the nearest point of a simplex, by hand: all positive, one that drops out, one that
// takes all, no total.
func TestSimplexByHand(t *testing.T) {
	for _, c := range []struct {
		y     []float64
		total float64
		want  []float64
	}{
		{[]float64{1, 2, 3}, 9, []float64{2, 3, 4}},
		{[]float64{1, 2, 3}, 3, []float64{0, 1, 2}},
		{[]float64{10, -5, 0}, 4, []float64{4, 0, 0}},
		{[]float64{0.5, 0.75, -0.125, math.Inf(-1)}, 1, []float64{0.375, 0.625, 0, 0}}, // a cell that nothing can be in
		{[]float64{-1, -1}, 2, []float64{1, 1}},
		{[]float64{4, 5}, 0, []float64{0, 0}},
		{[]float64{4, 5}, -3, []float64{0, 0}},
		{[]float64{4, 5}, math.NaN(), []float64{0, 0}},
		{nil, 3, []float64{}},
	} {
		if got := Simplex(c.y, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%v to sum %v is %v, must be %v", c.y, c.total, got, c.want)
		}
	}
}

// FuzzSimplex: the result is feasible and is y less one number wherever it is positive,
// and at least y less that number elsewhere: the conditions (Karush, Kuhn, Tucker) that
// only the nearest point meets.
func FuzzSimplex(f *testing.F) {
	f.Add(uint64(1), uint8(5), 10.)
	f.Add(uint64(2), uint8(200), 1e9)
	f.Add(uint64(3), uint8(1), 1e-9)
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, total float64) {
		if n == 0 || !(total > 1e-12 && total < 1e12) {
			t.Skip()
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		y := make([]float64, n)
		for i := range y {
			y[i] = 100 * rng.NormFloat64()
		}
		x := Simplex(y, total)
		less, most := math.Inf(-1), 0.0
		for i := range x {
			most = max(most, math.Abs(y[i]))
			if x[i] > 0 {
				less = y[i] - x[i]
			}
		}
		slack := 1e-12 * (most + total)
		if math.Abs(sum(x)-total) > 1e-10*(most+total) {
			t.Errorf("sum %v, must be %v", sum(x), total)
		}
		for i := range x {
			if x[i] < 0 || x[i] > 0 && math.Abs(y[i]-x[i]-less) > slack || x[i] == 0 && y[i] > less+slack {
				t.Errorf("%v becomes %v where others lose %v", y[i], x[i], less)
			}
		}
	})
}

// TestPosteriorIsTheIntegral: the posterior mean and the density are integrals over all counts from 0 on of an
// exponential density times a normal one; here by the trapezoidal rule on 40,000 steps about where the
// product is largest. Both sides of farBelow are among them.
func TestPosteriorIsTheIntegral(t *testing.T) {
	for _, c := range [][3]float64{{5, 2, 3}, {-8, 2, 3}, {0, 50, 7}, {120, 50, 7}, {120, 50, 400}, {-90, 50, 2.01},
		{-90, 50, 1.9}, {10, 1, 1e6}, {-3, 1, .01}} {
		y, sd, mean := c[0], c[1], c[2]
		log := func(x float64) float64 {
			return -x/mean - math.Log(mean) - (y-x)*(y-x)/(2*sd*sd) - math.Log(sd*math.Sqrt(2*math.Pi))
		}
		mode := max(y-sd*sd/mean, 0)
		reach := 12 * min(sd, 3*mean)
		if mode > 0 {
			reach = 12 * sd
		}
		low, whole, first := max(mode-reach, 0), 0.0, 0.0
		step := (mode + reach - low) / 40_000
		for i := range 40_001 {
			x, w := low+float64(i)*step, step
			if i == 0 || i == 40_000 {
				w /= 2
			}
			p := w * math.Exp(log(x)-log(mode))
			whole, first = whole+p, first+p*x
		}
		if got, want := Posterior(y, sd, mean), first/whole; math.Abs(got-want) > 1e-5*want {
			t.Errorf("y %g, sd %g, mean %g: the posterior mean is %.9g, must be %.9g", y, sd, mean, got, want)
		}
		if got, want := logDensity(y, sd, mean), log(mode)+math.Log(whole); math.Abs(got-want) > 1e-5 {
			t.Errorf("y %g, sd %g, mean %g: the density is e^%.9g, must be e^%.9g", y, sd, mean, got, want)
		}
	}
}
