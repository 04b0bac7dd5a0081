package posterior

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
)

// logGamma draws the logarithm of a Gamma(a, 1) number (Marsaglia, Tsang 2000; below a = 1 as
// Gamma(a+1) U^(1/a)), so that no small a makes it 0.
func logGamma(a float64, r *rand.Rand) float64 {
	boost := 0.0
	if a < 1 {
		boost = bitmath.Log(1-float64(r.Float64())) / a
		a++
	}
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := bitmath.Normal(r)
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		log := bitmath.Log(v)
		if bitmath.Log(1-float64(r.Float64())) < float64(0.5*x*x)+float64(d*(1-v+log)) {
			return bitmath.Log(d) + log + boost
		}
	}
}

// poisson draws a Poisson number: below a rate of 10 by multiplying uniform ones (Knuth), else
// by transformed rejection (PTRS, Hormann 1993). Beyond a rate of 2^40 it is the rate.
func poisson(rate float64, r *rand.Rand) float64 {
	if rate < 10 {
		least, n := bitmath.Exp(-rate), 0.0
		for u := r.Float64(); u > least; u *= r.Float64() {
			n++
		}
		return n
	}
	if rate > 1<<40 {
		return math.Floor(rate)
	}
	root, log := math.Sqrt(rate), bitmath.Log(rate)
	b := 0.931 + float64(2.53*root)
	a := -0.059 + float64(0.02483*b)
	inverse := 1.1239 + 1.1328/(b-3.4)
	squeeze := 0.9277 - 3.6224/(b-2)
	for {
		u, v := float64(r.Float64())-0.5, 1-float64(r.Float64())
		us := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/us+b)*u) + rate + 0.43)
		if us >= 0.07 && v <= squeeze {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		if bitmath.Log(v)+bitmath.Log(inverse)-bitmath.Log(a/(us*us)+b) <= -rate+float64(k*log)-bitmath.Lgamma(k+1) {
			return k
		}
	}
}
