package pld

import (
	"math"

	"weir/internal/bitmath"
)

// tail is the reach of a Gaussian in standard deviations. What lies beyond,
// tailMass > Phi(-20), is put at infinite loss.
const (
	tail     = 20.0
	tailMass = 3e-89

	// leastShift is the smallest shift that grids resolve in double precision.
	leastShift = 1e-8

	// leastLoss is the smallest loss bound whose square is far from underflow.
	leastLoss = 1e-100
)

// shift returns mu where a grid resolves it, else what bounds it: above, a larger
// shift; below, none.
func shift(mu float64, lower bool) float64 {
	switch {
	case mu >= leastShift || mu == 0:
		return mu
	case lower:
		return 0
	}
	return leastShift
}

// revealing returns the pair of a mechanism that may publish its input.
func revealing() *pair {
	return &pair{inf: 1, gap: 1, bound: 0, symmetric: true}
}

func normal(x float64) float64 { return bitmath.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

func tails(p *pair, lower bool) *pair {
	p.bound = math.Inf(1)
	if !lower {
		p.inf, p.gap = tailMass, tailMass
	}
	return p
}

// gaussian returns the pair N(mu, 1), N(0, 1) (Balle and Wang 2018). Above mu = 60,
// where even the event that a tail of 1e-190 hides the input has loss 600, it is
// bounded by the mechanism that publishes its input.
func gaussian(mu float64, lower bool) *pair {
	if mu > 60 {
		return revealing()
	}
	if mu = shift(mu, lower); mu == 0 {
		return pure(0)
	}
	step := math.Min(0.01, 0.1/mu)
	half := int(math.Ceil((float64(mu/2) + tail) / step))
	d := density{
		at:   func(x float64) (float64, float64) { return normal(x - mu), normal(x) },
		loss: func(x float64) float64 { return mu * (x - float64(mu/2)) },
	}
	atoms := discretise(d, float64(mu/2)-float64(float64(half)*step), step, 2*half, lower)
	return tails(&pair{atoms: atoms, symmetric: true}, lower)
}

// antipodal returns the pair q N(mu,1) + (1-q) N(0,1) against q N(-mu,1) + (1-q) N(0,1):
// Poisson sampling at rate q under replacement of one record (see precision).
func antipodal(mu, q float64, lower bool) *pair {
	if mu > 60 {
		return revealing().mixP(q).symmetrise()
	}
	if mu = shift(mu, lower); mu == 0 {
		return pure(0)
	}
	step := math.Min(0.01, 0.1/mu)
	half := int(math.Ceil((mu + tail) / step))
	d := density{
		at: func(x float64) (float64, float64) {
			o := float64((1 - q) * normal(x))
			return o + float64(q*normal(x-mu)), o + float64(q*normal(x+mu))
		},
		loss: func(x float64) float64 {
			return mixed(q, float64(mu*x)-float64(mu*mu/2)) - mixed(q, float64(-mu*x)-float64(mu*mu/2))
		},
	}
	atoms := discretise(d, -float64(half)*step, step, 2*half, lower)
	return tails(&pair{atoms: atoms, symmetric: true}, lower)
}

// laplace returns the pair of Laplace distributions at distance e scales.
func laplace(e float64, lower bool) *pair {
	if e > 4000 || e < leastLoss {
		return pure(e)
	}
	n := int(math.Min(math.Max(2*e/0.01, 800), 16000))
	d := density{
		at:   func(x float64) (float64, float64) { return bitmath.Exp(x-e) / 2, bitmath.Exp(-x) / 2 },
		loss: func(x float64) float64 { return float64(2*x) - e },
	}
	atoms := []atom{{bitmath.Exp(-e) / 2, 0.5, -e}}
	atoms = append(atoms, discretise(d, 0, e/float64(n), n, lower)...)
	atoms = append(atoms, atom{0.5, bitmath.Exp(-e) / 2, e})
	return &pair{atoms: join(atoms), bound: e, lattice: e, symmetric: true}
}

// join adds up neighbours of equal loss.
func join(atoms []atom) []atom {
	out := atoms[:0]
	for _, a := range atoms {
		if n := len(out) - 1; n >= 0 && a.loss-out[n].loss <= 1e-15*math.Abs(a.loss) {
			out[n].p, out[n].q = out[n].p+a.p, out[n].q+a.q
			continue
		}
		out = append(out, a)
	}
	return out
}

// discreteLaplace returns the two-sided geometric distribution of scale s moved by shift.
func discreteLaplace(s float64, shift int) *pair {
	a, e := bitmath.Exp(-1/s), float64(shift)/s
	if e < leastLoss {
		return pure(e)
	}
	top, low := 1/(1+a), bitmath.Exp(-e)/(1+a)
	p := &pair{bound: e, lattice: 1 / s, exact: true, symmetric: true}
	p.atoms = []atom{{low, top, -e}}
	if shift == 2 {
		mid := -bitmath.Expm1(-1/s) / (1 + a) * a
		p.atoms = append(p.atoms, atom{mid, mid, 0})
	}
	p.atoms = append(p.atoms, atom{top, low, e})
	return p
}

// discreteGaussian returns the discrete Gaussian with parameter s moved by shift. The
// larger shift dominates the smaller: the noise is log-concave, so the best test
// of each order is a tail, whose probability grows with the shift.
func discreteGaussian(s float64, shift int, lower bool) *pair {
	reach := int(math.Ceil(tail*s)) + shift
	mass := make([]float64, 2*reach+1+shift) // of the integers -reach .. reach+shift
	total := 0.0
	for i := range mass {
		x := float64(i-reach) / s
		mass[i] = bitmath.Exp(-x * x / 2)
		total += mass[i]
	}
	unit := float64(shift) / (2 * s * s)
	p := &pair{lattice: unit, exact: true, symmetric: true}
	for i, m := range mass {
		x := float64(i-reach-shift) / s
		p.atoms = append(p.atoms, atom{bitmath.Exp(-x*x/2) / total, m / total, float64(2*(i-reach)-shift) * unit})
	}
	if s > 100 {
		p.atoms, p.exact, p.lattice = coarsen(p.atoms, 0.01*float64(shift)/s, lower), false, 0
	}
	return tails(p, lower)
}

// pure returns the pair of randomized response, which dominates every e-DP mechanism
// (Kairouz, Oh and Viswanath 2015).
func pure(e float64) *pair {
	if e == 0 {
		return &pair{atoms: []atom{{1, 1, 0}}, symmetric: true}
	}
	if math.IsInf(e, 1) {
		return revealing()
	}
	e = math.Max(e, leastLoss)
	hi, lo := 1/(1+bitmath.Exp(-e)), 1/(1+bitmath.Exp(e))
	return &pair{atoms: []atom{{lo, hi, -e}, {hi, lo, e}}, bound: e, lattice: e, exact: true, symmetric: true}
}

// boundedRange dominates every mechanism whose log probability ratios lie in an
// interval of length e that holds 0 (the exponential mechanism: Dong, Durfee and
// Rogers 2020). For ratios t and t-e the divergence at eps in [t-e, t] is
// (1-e^(t-e))(1-e^(eps-t))/(1-e^-e), the largest for that interval by convexity, and
// largest at t = (eps+e)/2: (1-e^((eps-e)/2))^2/(1-e^-e). The supremum over t is not
// attained by one t at all eps, so this is an upper bound for compositions, as is
// the Renyi bound min(e, x - 1 - ln x + e^2 (a-1)/8) with x = e/(e^e-1) (Cesar and
// Rogers 2021), which is sometimes below it.
func boundedRange(e float64) *pair {
	if e == 0 || e > 500 {
		return pure(e)
	}
	const n = 2000
	eps, delta := make([]float64, n+1), make([]float64, n+1)
	for i := range eps {
		eps[i] = e * float64(i) / n
		gap := bitmath.Expm1((eps[i] - e) / 2)
		delta[i] = gap * gap / -bitmath.Expm1(-e)
	}
	eps[n], delta[n] = e, 0
	atoms, inf := hull(eps, delta)
	p := (&pair{atoms: atoms, inf: inf, bound: e}).symmetrise()
	x := e / bitmath.Expm1(e)
	p.moment = func(t float64) float64 {
		return t * math.Min(e, math.Max(0, x-1-bitmath.Log(x)+float64(e*e*t/8)))
	}
	return p
}

// approximate returns the pair that dominates every (e, delta)-DP mechanism (Kairouz,
// Oh and Viswanath 2015).
func approximate(e, delta float64) *pair {
	p := pure(e)
	for i := range p.atoms {
		p.atoms[i].p *= 1 - delta
		p.atoms[i].q *= 1 - delta
	}
	p.inf += float64((1 - p.inf) * delta)
	p.gap = p.inf
	return p
}

// zcdp dominates every rho-zCDP mechanism: delta(eps) is at most the least over
// the order a of e^{(a-1)(rho a - eps)} (1-1/a)^a / (a-1) (Canonne, Kamath and
// Steinke 2020, proposition 12) in both directions, and any pair whose divergence
// is at least that at every order dominates and so composes (Zhu, Dong and Wang
// 2022, theorem 10). It is not tight.
func zcdp(rho float64) *pair {
	if rho == 0 {
		return pure(0)
	}
	// delta < e^-200 at the first; beyond the second e^eps overflows, and what delta is
	// left there is put at infinite loss.
	top := math.Min(rho+float64(2*math.Sqrt(rho*200)), 600)
	n := 4000
	distance := math.Min(math.Sqrt(rho/2), math.Sqrt(-bitmath.Expm1(-rho))) // total variation, from KL <= rho
	eps, delta := make([]float64, n+1), make([]float64, n+1)
	for i := range eps {
		eps[i] = top * float64(i) / float64(n)
		delta[i] = math.Min(zcdpDelta(rho, eps[i]), distance)
	}
	atoms, inf := hull(eps, delta)
	p := (&pair{atoms: atoms, inf: inf, bound: math.Inf(1)}).symmetrise()
	p.moment = func(t float64) float64 { return t * (t + 1) * rho }
	return p
}

func zcdpDelta(rho, eps float64) float64 {
	f := func(t float64) float64 { // a = 1 + e^t
		b := bitmath.Exp(t)
		return float64(b*(float64(rho*(1+b))-eps)) - float64((1+b)*bitmath.Log1p(1/b)) - t
	}
	return bitmath.Exp(f(minimise(f, bitmath.Log(1e-4), bitmath.Log(1e4/math.Sqrt(rho)+2), 1e-7)))
}

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
