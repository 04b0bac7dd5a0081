package histogram

import (
	"math"
	"testing"
)

// The posterior mean and the density are integrals over all counts from 0 on of an exponential
// density times a normal one; here by the trapezoidal rule on 40,000 steps about where the
// product is largest. Both sides of farBelow are among them.
func TestPosteriorIsTheIntegral(t *testing.T) {
	for _, c := range [][3]float64{{5, 2, 3}, {-8, 2, 3}, {0, 50, 7}, {120, 50, 7}, {120, 50, 400}, {-90, 50, 2.01}, {-90, 50, 1.9}, {10, 1, 1e6}, {-3, 1, .01}} {
		y, sd, mean := c[0], c[1], c[2]
		log := func(x float64) float64 {
			return -x/mean - math.Log(mean) - (y-x)*(y-x)/(2*sd*sd) - math.Log(sd*math.Sqrt(2*math.Pi))
		}
		mode := max(y-sd*sd/mean, 0)
		reach := 12 * min(sd, 3*mean)
		if mode > 0 {
			reach = 12 * sd
		}
		from, whole, first := max(mode-reach, 0), 0.0, 0.0
		step := (mode + reach - from) / 40_000
		for i := range 40_001 {
			x, w := from+float64(i)*step, step
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
