package bitmath

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
