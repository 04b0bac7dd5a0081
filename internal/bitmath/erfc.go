package bitmath

import "math"

// Erfc returns the complementary error function of x, the integral of 2/sqrt(pi) e^(-t²)
// from x on.
func Erfc(x float64) float64 {
	size := math.Abs(x)
	switch {
	case x != x:
		return x
	case size < erfcxQuartersFrom:
		high, low := erfSmall(x)
		one, rest := joined(1, -high)
		return one + (rest - low)
	case x < -6: // where the rest of 2 is below 2^-53
		return 2
	case x >= 28:
		return 0
	}
	high, low, k := erfcParts(size)
	if x > 0 {
		return timesPower(high+low, k)
	}
	two, rest := joined(2, -timesPower(high, k))
	return two + (rest - timesPower(low, k))
}

// erfSmall returns the parts of erf x for |x| below erfcxQuartersFrom.
func erfSmall(x float64) (high, low float64) {
	z := float64(x * x)
	s := erf9 + float64(z*(erf11+float64(z*(erf13+float64(z*(erf15+float64(z*erf17)))))))
	s = erf1 + float64(z*(erf3+float64(z*(erf5+float64(z*(erf7+float64(z*s)))))))
	return joined(x, float64(x*s))
}

// erfcParts returns the parts of erfc x = (high + low) 2^k for x from erfcxQuartersFrom to 28: e^(-x²) by
// the square in two parts, times a polynomial.
func erfcParts(x float64) (high, low float64, k int) {
	square, error := joined(times(x, 0, x, 0))
	e, rest, k := expParts(-square, -error)
	f, fLow := quarter(erfcxQuarters[:], erfcxQuartersFrom, x)
	high, low = times(e, rest, f, fLow)
	return high, low, k
}

// quarter returns the value at x of the polynomial of the quarter of an octave that x lies in,
// of those that begin with from, and its error.
func quarter(all [][16]float64, from, x float64) (high, low float64) {
	at := math.Float64bits(x) >> 50
	c := &all[at-math.Float64bits(from)>>50]
	t := x - math.Float64frombits(at<<50|1<<49)
	z := float64(t * t)
	odd, even := c[14], c[15] // powers of t, begun with t, that are odd and even
	for n := 12; n > 1; n -= 2 {
		odd, even = c[n]+float64(z*odd), c[n+1]+float64(z*even)
	}
	high, low = joined(c[0], float64(t*odd)+float64(z*even))
	return high, low + c[1]
}
