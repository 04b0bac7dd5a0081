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

// poisson draws a Poisson number: below a rate of 10 by multiplying uniform ones until they
// are below exp(-rate) (Knuth 1969, section 3.4.1), else under a hat. Beyond a rate of 2^40 it is the rate.
func poisson(rate float64, r *rand.Rand) float64 {
	switch {
	case rate > 1<<40:
		return math.Floor(rate)
	case rate >= 10:
		return newHat(rate).draw(r)
	}
	least, n := bitmath.Exp(-rate), 0.0
	for u := r.Float64(); u > least; u *= r.Float64() {
		n++
	}
	return n
}

// hat is what a Poisson law of a rate of 10 or more lies under (Hormann 1993, algorithm PTRS, whose fitted
// numbers these are): a uniform number u from -1/2 to 1/2 becomes (2 bend/(1/2-|u|) + slope) u about
// the rate, whose density is the hat's inverse.
type hat struct {
	rate, slope, bend float64
	top               float64 // 1/alpha: the hat over the law, at most
	sure              float64 // the second number up to which all but the ends are kept
}

func newHat(rate float64) hat {
	slope := 0.931 + float64(2.53*math.Sqrt(rate))
	return hat{rate: rate, slope: slope, bend: float64(0.02483*slope) - 0.059,
		top: 1.1239 + 1.1328/(slope-3.4), sure: 0.9277 - 3.6224/(slope-2)}
}

func (h hat) draw(r *rand.Rand) float64 {
	for {
		u, height := float64(r.Float64())-0.5, 1-float64(r.Float64())
		end := 0.5 - math.Abs(u)
		n := math.Floor(float64((float64(2*h.bend/end)+h.slope)*u) + h.rate + 0.43)
		inside := end >= 0.07 && height <= h.sure
		outside := n < 0 || end < 0.013 && height > end
		if inside || !outside && h.keeps(n, end, height) {
			return n
		}
	}
}

// keeps is the exact test: height times the hat at n is below the law there.
func (h hat) keeps(n, end, height float64) bool {
	hat := bitmath.Log(height * h.top / (h.bend/float64(end*end) + h.slope))
	return hat <= float64(n*bitmath.Log(h.rate))-h.rate-bitmath.Lgamma(n+1)
}
