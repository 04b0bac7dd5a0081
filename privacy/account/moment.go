package account

import (
	"math"

	"weir/internal/bitmath"
)

// logAddExp is ln(e^a + e^b).
func logAddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsInf(a, 1) {
		return a
	}
	return a + bitmath.Log1p(bitmath.Exp(b-a))
}

// logComb is ln of the binomial coefficient of real n and integer k.
func logComb(n, k float64) float64 {
	a := bitmath.Lgamma(n + 1)
	b := bitmath.Lgamma(k + 1)
	c := bitmath.Lgamma(n - k + 1)
	return a - b - c
}

// logExcess is ln((1+y)^alpha - 1 - alpha*y) for y >= -1 and alpha > 1, which is
// not negative (Bernoulli). The moment of a likelihood ratio 1+y of mean 1 is 1
// plus the mean of this excess, so that tiny divergences keep their digits.
// logOnePlus is ln(1+y), which stays finite where y overflows.
func logExcess(alpha, y, logOnePlus float64) float64 {
	if math.Abs(y) < 0.1 && math.Abs(alpha*y) < 0.5 {
		return bitmath.Log(excessSeries(alpha, y))
	}
	t := alpha * logOnePlus
	if t > 600 {
		return t
	}
	return bitmath.Log(bitmath.Expm1(t) - float64(alpha*y))
}

// excessSeries sums the binomial series from its second term.
func excessSeries(alpha, y float64) float64 {
	term := float64(alpha * (alpha - 1) / 2 * y * y)
	sum := term
	for k := 3.0; k < 60; k++ {
		term = float64(term * ((alpha - k + 1) / k * y))
		sum += term
		if math.Abs(term) <= 1e-17*math.Abs(sum) {
			break
		}
	}
	return sum
}

// renyi turns ln E[(1+y)^alpha - 1] into the Renyi divergence of order alpha.
func renyi(alpha, logMomentExcess float64) float64 {
	if math.IsInf(logMomentExcess, 1) {
		return math.Inf(1)
	}
	if logMomentExcess > 36 {
		return logMomentExcess / (alpha - 1)
	}
	return bitmath.Log1p(bitmath.Exp(logMomentExcess)) / (alpha - 1)
}
