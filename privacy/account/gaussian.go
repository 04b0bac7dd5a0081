package account

import (
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// sampledGaussian is a release of a Poisson sample (rate q) with noise s over
// the bound on one contribution, seen along the line through the contributions.
type sampledGaussian struct {
	q, s     float64
	discrete bool // noise on the integers
}

// addRemove returns the Renyi divergence of order alpha of
// (1-q)N(0,s^2)+qN(1,s^2) from N(0,s^2), which is the larger of the two
// directions and the worst case (Mironov, Talwar, Zhang 2019, theorems 4, 5).
// The discrete Gaussian has the same reflection between its pair.
func (g sampledGaussian) addRemove(alpha float64) float64 {
	if r, ok := g.trivial(alpha, 1); ok {
		return r
	}
	logF := func(x float64) float64 {
		u := (float64(2*x) - 1) / (2 * g.s * g.s)
		logOnePlus, y := g.tilt(u)
		return logExcess(alpha, y, logOnePlus) - x*x/(2*g.s*g.s)
	}
	odds := g.logOdds()
	mode := func(x float64) float64 { return alpha * weight(odds, (float64(2*x)-1)/(2*g.s*g.s)) }
	return renyi(alpha, g.logSum(logF, fixed(mode, alpha), fixed(mode, 0)))
}

// replaceOne returns the Renyi divergence of order alpha of
// (1-q)N(0,s^2)+qN(1,s^2) from (1-q)N(0,s^2)+qN(-1,s^2). For Poisson sampling
// this antipodal pair dominates the exchange of one record (Schuchardt, Stoian,
// Kosmala, Guennemann 2024, one record removed and one inserted).
func (g sampledGaussian) replaceOne(alpha float64) float64 {
	if r, ok := g.trivial(alpha, 2); ok {
		return r
	}
	if g.discrete {
		return math.Inf(1) // not proven for the lattice
	}
	v := 2 * g.s * g.s
	logF := func(x float64) float64 {
		logP, _ := g.tilt((float64(2*x) - 1) / v)
		logQ, _ := g.tilt((float64(-2*x) - 1) / v)
		a, b := bitmath.Exp((float64(2*x)-1)/v-logQ), bitmath.Exp((float64(-2*x)-1)/v-logQ)
		y := g.q * (a - b)
		if math.IsNaN(y) || math.IsInf(y, 0) {
			y = bitmath.Expm1(math.Min(logP-logQ, 700))
		}
		return logExcess(alpha, y, logP-logQ) + logQ - x*x/v
	}
	odds := g.logOdds()
	mode := func(x float64) float64 {
		return float64(alpha*weight(odds, (float64(2*x)-1)/v)) + float64((alpha-1)*weight(odds, (float64(-2*x)-1)/v))
	}
	starts := []float64{fixed(mode, 2*alpha), fixed(mode, 0)}
	if starts[1] < 1+float64(6*g.s) { // else what lies around -1 and 0 is negligible
		starts = append(starts, -1, 0)
	}
	return renyi(alpha, g.logSum(logF, starts...))
}

// fixed iterates x = f(x), which holds at the modes of a moment's integrand, at most 60 times. Started below all modes
// it approaches the lowest one, started above them the highest. It need not arrive: the sum over the lattice climbs
// from where it stops.
func fixed(f func(float64) float64, x float64) float64 {
	for range 60 {
		next := float64(f(x))
		if math.Abs(next-x) < 1e-3*(1+math.Abs(x)) {
			return next
		}
		x = next
	}
	return x
}

// trivial handles the ends: nothing sampled, everything sampled, no noise.
func (g sampledGaussian) trivial(alpha, sensitivity float64) (float64, bool) {
	switch {
	case g.q == 0:
		return 0, true
	case g.s == 0 || math.IsInf(alpha, 1):
		return math.Inf(1), true
	case g.q == 1:
		return alpha * sensitivity * sensitivity / (2 * g.s * g.s), true
	}
	return 0, false
}

// tilt returns ln(1+y) and y for y = q(e^u - 1).
func (g sampledGaussian) tilt(u float64) (logOnePlus, y float64) {
	if u > 500 {
		return u + bitmath.Log(g.q), math.Inf(1)
	}
	y = g.q * bitmath.Expm1(u)
	return bitmath.Log1p(y), y
}

// logOdds returns ln((1-q)/q).
func (g sampledGaussian) logOdds() float64 { return bitmath.Log1p(-g.q) - bitmath.Log(g.q) }

// weight returns q e^u / (1-q+q e^u), by ln((1-q)/q).
func weight(logOdds, u float64) float64 { return 1 / (1 + bitmath.Exp(logOdds-u)) }

// logSum normalises the lattice sum. The singularities of the integrand lie
// pi*s^2 off the real line, hence the step of s^2/2 for small s.
func (g sampledGaussian) logSum(logF func(float64) float64, starts ...float64) float64 {
	if g.discrete {
		norm := logSum(1, g.s, func(x float64) float64 { return -x * x / (2 * g.s * g.s) }, 0)
		return logSum(1, g.s, logF, starts...) - norm
	}
	h := math.Min(g.s/3, g.s*g.s/2)
	return logSum(h, g.s, logF, starts...) + bitmath.Log(h) - bitmath.Log(g.s) - float64(0.5*bitmath.Log(2*math.Pi))
}

// gaussianMoment returns ln E[(P/Q - 1)^l] for P = N(1,s^2), Q = N(0,s^2) and
// even l: the forward differences of Wang, Balle, Kasiviswanathan 2019, without
// their cancellation.
func gaussianMoment(s float64, l int) float64 {
	v := 2 * s * s
	n := float64(l)
	logF := func(x float64) float64 {
		u := (float64(2*x) - 1) / v
		if u > 30 {
			return float64(n*u) - x*x/v
		}
		return float64(n*bitmath.Log(math.Abs(bitmath.Expm1(u)))) - x*x/v
	}
	// The modes, one on each side of the zero at 1/2, solve x = n e^u/(e^u-1).
	rises := func(x float64) bool { return n/-bitmath.Expm1(-(float64(2*x)-1)/v) > x }
	h, reach := math.Min(s/3, s*s/2), n+float64(s*math.Sqrt(n))+1
	top, bottom := root(rises, 0.5, 2*reach), root(rises, -2*reach, 0.5)
	return logSum(h, s, logF, top, bottom) + bitmath.Log(h) - bitmath.Log(s) - float64(0.5*bitmath.Log(2*math.Pi))
}

// root bisects for where f turns from true to false.
func root(f func(float64) bool, low, high float64) float64 {
	for range 50 {
		if mid := float64((low + high) / 2); f(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// PoissonGaussian returns the Renyi divergence of order alpha > 1 of one step of a
// Poisson-subsampled Gaussian (rate q in [0, 1], noise multiplier s) under the
// adjacency; +Inf where there is none.
func PoissonGaussian(q, s, alpha float64, adjacency privacy.Adjacency) float64 {
	if adjacency == privacy.ReplaceOne {
		return sampledGaussian{q: q, s: s}.replaceOne(alpha)
	}
	return sampledGaussian{q: q, s: s}.addRemove(alpha)
}

// logNormalTail returns ln Phi(x), accurate in both tails.
func logNormalTail(x float64) float64 {
	if x > -30 {
		return bitmath.Log(0.5 * bitmath.Erfc(-x/math.Sqrt2))
	}
	// Asymptotic series (Abramowitz, Stegun 26.2.12).
	z := 1 / (x * x)
	return float64(-x*x/2) - bitmath.Log(-x) - float64(0.5*bitmath.Log(2*math.Pi)) +
		bitmath.Log1p(-z*(1-float64(3*z*(1-float64(5*z)))))
}

// GaussianDelta returns the exact delta at epsilon of a Gaussian release with noise s
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

// GaussianEpsilon returns the exact epsilon at delta of the same release, rounded up
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

// GaussianNoise returns the smallest noise over sensitivity that is (epsilon,
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
