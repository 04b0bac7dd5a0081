package pld

import (
	"math"

	"weir/internal/bitmath"
)

// The composition of Gaussians N(mu_i, 1), N(0, 1) is the one Gaussian with
// mu^2 = sum mu_i^2, whose delta is known exactly (Balle and Wang 2018).

// mills returns the Gaussian tail Phi(-x) divided by the density at x.
func mills(x float64) float64 {
	if x < 5 {
		return bitmath.Erfc(x/math.Sqrt2) / 2 / normal(x)
	}
	f := x // continued fraction x + 1/(x + 2/(x + 3/(...))), to 1e-16 with 80 terms from 5 on
	for k := 80; k > 0; k-- {
		f = x + float64(k)/f
	}
	return 1 / f
}

// gaussianDelta returns Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), both terms
// divided by their common density so that small values keep their digits.
func gaussianDelta(mu, eps float64) float64 {
	if mu == 0 {
		return 0
	}
	x := eps/mu - float64(mu/2)
	if x < -30 {
		return 1
	}
	return normal(x) * (mills(x) - mills(x+mu))
}

// gaussianEpsilon returns the least eps of at least 0 with gaussianDelta at most
// delta, rounded up.
func gaussianEpsilon(mu, delta float64) float64 {
	if gaussianDelta(mu, 0) <= delta {
		return 0
	}
	if math.IsInf(mu, 1) {
		return mu
	}
	lo, hi := 0.0, float64(mu*(float64(mu/2)+mills0(delta)))
	for range 200 {
		mid := (lo + hi) / 2
		if mid == lo || mid == hi {
			break
		}
		if gaussianDelta(mu, mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * (1 + 1e-12)
}

// mills0 returns an x with Phi(-x) <= delta, from Phi(-x) <= e^{-x^2/2}.
func mills0(delta float64) float64 { return math.Sqrt(-2 * bitmath.Log(math.Min(delta, 0.5))) }
