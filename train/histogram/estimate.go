// Package histogram turns noisy histograms of one column into estimates: counts that
// are not negative, flat stretches that share their noise, a tree of finer and finer
// cells, bins of a model, and places of values inside a bin (docs/marginals.md
// section 5). It is arithmetic on released numbers: it never sees a count before its
// noise.
package histogram

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// Simplex returns the point of {x >= 0, sum x = total} that is nearest to y in Euclidean
// distance: each y less one number, and 0 where that is negative (Held, Wolfe,
// Crowder 1974); 0 for an entry of -Inf. All are 0 where total is not positive.
func Simplex(y []float64, total float64) []float64 {
	x := make([]float64, len(y))
	if len(y) == 0 || !(total > 0) {
		return x
	}
	down := slices.Clone(y)
	slices.SortFunc(down, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	less := excess(down, total)
	for i, v := range y {
		x[i] = max(v-less, 0)
	}
	return x
}

// excess returns the number by which the entries that stay positive pass total, each.
func excess(down []float64, total float64) float64 {
	sum, less := 0.0, 0.0
	for i, v := range down {
		sum += v
		if next := (sum - total) / float64(i+1); v > next {
			less = next
		}
	}
	return less
}

// farBelow is from where on the standard normal law is taken from its asymptote: the fourth
// term of it is below 1e-7 there.
const farBelow = -25

// Posterior returns the mean of a count with an exponential prior of the given mean, after
// normal noise of standard deviation sd > 0 made it y. It is above 0 and at most y where y is
// many standard deviations of noise, less where noise may explain y. With z = y/sd - sd/mean
// the law behind y is a normal one about sd z, cut off at 0, so that its mean is
// sd (z + phi(z)/Phi(z)).
func Posterior(y, sd, mean float64) float64 {
	z := y/sd - sd/mean
	if z < farBelow {
		s := 1 / float64(z*z)
		return sd / -z * (1 - float64(2*s) + float64(10*s*s))
	}
	return sd * (z + bitmath.Exp(-float64(z*z)/2)/float64(math.Sqrt(math.Pi/2)*bitmath.Erfc(-z/math.Sqrt2)))
}

// logDensity returns the logarithm of the density of y: of an exponential count of the given
// mean with normal noise of standard deviation sd.
func logDensity(y, sd, mean float64) float64 {
	z := y/sd - sd/mean
	if z < farBelow { // the squares of z and of sd/mean cancel
		s := 1 / float64(z*z)
		return float64(-float64(y/sd*y/sd)/2) - bitmath.Log(float64(-z*mean*math.Sqrt(2*math.Pi))) +
			bitmath.Log1p(-s+float64(3*s*s))
	}
	r := sd / mean
	return float64(float64(r*r)/2) - y/mean + bitmath.Log(bitmath.Erfc(-z/math.Sqrt2)/2) - bitmath.Log(mean)
}
