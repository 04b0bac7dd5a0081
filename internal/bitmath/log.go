package bitmath

import (
	"math"
)

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return logOfOther(x)
	}
	t, tLow, r, rLow := split(x, 0, 0)
	return log1p(t, tLow, r, rLow)
}

// logOfOther returns the logarithm of what is not positive or not finite.
func logOfOther(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x < 0:
		return math.NaN()
	}
	return x
}

// split returns t, tLow, r and rLow with ln(x + low) = t + ln(1 + r), less the whole powers of
// two where without is 1, for a positive and finite x and low an error of x. The cell of x
// has the reciprocal c of a number near its middle; r = x c - 1 is known exactly, since c
// has 21 bits, and t = k ln 2 - ln c.
func split(x, low float64, excluded int) (t, tLow, r, rLow float64) {
	z, c, k := cell(x)
	front := upper(z)
	r, rLow = joined(float64(front*c[0])-1, float64((z-front)*c[0]))
	if low != 0 {
		scale := math.Float64frombits(uint64(max(1023-k, 1)) << 52)
		rLow += float64(float64(low*scale) * c[0])
	}
	whole := float64(k * (1 - excluded))
	return float64(whole*ln2High) + c[1], float64(whole*ln2Low) + c[2], r, rLow
}

// cell returns z and k with x = z 2^k and z in the range of the cells, and the cell of z.
func cell(x float64) (z float64, c *[3]float64, k int) {
	bits := math.Float64bits(x)
	if bits < 1<<52 { // below the normal numbers
		bits = math.Float64bits(float64(x*0x1p52)) - 52<<52
	}
	from := bits - cellsFrom
	k = int(int64(from) >> 52)
	return math.Float64frombits(bits - uint64(k)<<52), &cells[from>>45&127], k
}

// log1p returns t + ln(1 + r), where t is 0 or at least as great as r, and tLow and rLow are
// their errors.
func log1p(t, tLow, r, rLow float64) float64 {
	high, low := joined(t, r)
	return high + (low + (tLow + rLow) + (cubic(r) - float64(r*(float64(0.5*r)+rLow))))
}

// cubic returns ln(1+r) - r + r²/2.
func cubic(r float64) float64 {
	square := float64(r * r)
	s := log5 + float64(r*log6) + float64(square*log7)
	return float64(float64(square*r) * (log3 + float64(r*log4) + float64(square*s)))
}

// logParts returns ln x, less its whole powers of two where without is 1, good to 2^-64: log1p
// with an exact square.
func logParts(x float64, without int) (high, low float64) {
	t, tLow, r, rLow := split(x, 0, without)
	high, low = joined(t, r)
	front := upper(r)
	back, error := joined(high, -float64(float64(0.5*front)*front))
	rest := error - float64(float64(0.5*(r-front))*(r+front)) - float64(r*rLow)
	return joined(back, low+(tLow+rLow)+(rest+cubic(r)))
}

// Log1p returns the natural logarithm of 1 + x.
func Log1p(x float64) float64 {
	switch {
	case !(x > -1 && x <= math.MaxFloat64):
		return logOfOther(1 + x)
	case math.Abs(x) < 0x1p-54:
		return x
	case -0x1p-9 < x && x < 0x1p-8: // the cell of 1
		return log1p(0, 0, x, 0)
	}
	one, error := sum(1, x)
	t, tLow, r, rLow := split(one, error, 0)
	return log1p(t, tLow, r, rLow)
}

// Log2 returns the binary logarithm of x; the logarithm of a power of two is exact.
func Log2(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return logOfOther(x)
	}
	_, _, k := cell(x)
	high, low := logParts(x, 1)
	front := upper(high)
	whole, error := sum(float64(k), float64(front*log2eHigh))
	return whole + (error + (float64((high-front)*log2eHigh) + float64(high*log2eLow) + float64(low*log2eHigh)))
}

// Log10 returns the decimal logarithm of x.
func Log10(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return logOfOther(x)
	}
	high, low := logParts(x, 0)
	front := upper(high)
	rest := float64((high-front)*log10eHigh) + float64(high*log10eLow) + float64(low*log10eHigh)
	return float64(front*log10eHigh) + rest
}

// Lgamma returns the logarithm of the gamma function of x > 0, +Inf at 0 and NaN below. It
// is monotone but from 1.38 to 1.55, about its least value, where it errs by a unit in the
// last place more often than it changes by one.
func Lgamma(x float64) float64 {
	switch {
	case !(x > 0):
		return -logOfOther(x)
	case x < 0.5: // ln Gamma(1+x) - ln x
		high, low := lgammaQuarter(min(1+x, 0x1.7ffffffffffffp0), x) // 3/2 has another root
		log, logLow := logParts(x, 0)
		s, error := sum(-log, high)
		return s + (error + low - logLow)
	case x < 1.5:
		high, low := lgammaQuarter(x, x-1)
		return high + low
	case x < 2.5:
		high, low := lgammaQuarter(x, x-2)
		return high + low
	case x < 8:
		high, low := lgammaQuarter(x, 1)
		return high + low
	case x > 0x1p1000: // where products of x could not be split
		return x * (Log(x) - 1)
	}
	return lgammaLarge(x)
}

// lgammaQuarter returns ln Gamma(x), given x less the root that its quarter is divided by.
func lgammaQuarter(x, fromRoot float64) (high, low float64) {
	f, fLow := quarter(lgammaQuarters[:], lgammaQuartersFrom, x)
	return times(fromRoot, 0, f, fLow)
}

// lgammaLarge returns ln Gamma(x) = (x - 1/2)(ln x - 1) + (ln(2 pi) - 1)/2 + stirling(x).
func lgammaLarge(x float64) float64 {
	const constant = 0.41893853320467274178
	high, low := logParts(x, 0)
	high, error := joined(high, -1)
	high, low = times(high, error+low, x-0.5, 0)
	return high + (low + (constant + stirling(x)))
}

// stirling returns 1/(12 x) - 1/(360 x³) and so on for x of at least 8: by how much ln Gamma(x)
// is above Stirling's formula. The first term left out, of x^-17, is above all that are
// (Abramowitz, Stegun 6.1.41 and 6.1.42), and below 2^-53.
func stirling(x float64) float64 {
	w := 1 / x
	z := float64(w * w)
	y := float64(z * z)
	s := 1./1188 - float64(z*(691./360360)) + float64(y*(1./156-float64(z*(3617./122400))))
	s = 1./1260 - float64(z*(1./1680)) + float64(y*s)
	return float64(w * (1./12 - float64(z*(1./360)) + float64(y*s)))
}
