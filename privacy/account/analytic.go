package account

import (
	"math"

	"weir/internal/bitmath"
)

// logNormalTail is ln Phi(x), accurate in both tails.
func logNormalTail(x float64) float64 {
	if x > -30 {
		return bitmath.Log(0.5 * bitmath.Erfc(-x/math.Sqrt2))
	}
	// Asymptotic series (Abramowitz, Stegun 26.2.12).
	z := 1 / (x * x)
	return float64(-x*x/2) - bitmath.Log(-x) - float64(0.5*bitmath.Log(2*math.Pi)) + bitmath.Log1p(-z*(1-float64(3*z*(1-float64(5*z)))))
}

// GaussianDelta is the exact delta at epsilon of a Gaussian release with noise s
// over sensitivity: Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s) (Balle,
// Wang 2018, theorem 8).
func GaussianDelta(s, eps float64) float64 {
	switch {
	case math.IsInf(eps, 1) || math.IsInf(s, 1):
		return 0
	case s == 0:
		return 1
	}
	a := logNormalTail(1/(2*s) - float64(eps*s))
	b := eps + logNormalTail(-1/(2*s)-float64(eps*s))
	return math.Max(0, -bitmath.Exp(a)*bitmath.Expm1(b-a))
}

// GaussianEpsilon is the exact epsilon at delta of the same release, rounded up
// by less than 1e-12 of it.
func GaussianEpsilon(s, delta float64) float64 {
	switch {
	case delta >= 1 || GaussianDelta(s, 0) <= delta:
		return 0
	case delta <= 0 || s == 0:
		return math.Inf(1)
	}
	low, high := 0.0, 1.0
	for GaussianDelta(s, high) > delta {
		low, high = high, float64(2*high)
	}
	for range 100 {
		mid := (low + high) / 2
		if mid == low || mid == high {
			break
		}
		if GaussianDelta(s, mid) > delta {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// GaussianNoise is the smallest noise over sensitivity that is (epsilon,
// delta)-DP: the analytic calibration of Balle, Wang 2018.
func GaussianNoise(eps, delta float64) float64 {
	if math.IsInf(eps, 1) || delta >= 1 {
		return 0
	}
	low, high := -50.0, 50.0
	for range 120 {
		mid := (low + high) / 2
		if GaussianDelta(bitmath.Exp(mid), eps) > delta {
			low = mid
		} else {
			high = mid
		}
	}
	return bitmath.Exp(high)
}
