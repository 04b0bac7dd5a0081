package account

import (
	"math"

	"weir/internal/bitmath"
)

// curve is an upper bound on the Renyi divergence of a release between any two
// neighbours, in both directions.
type curve struct {
	at   func(alpha float64) float64 // order > 1
	pure float64                     // bound on the largest divergence (order infinity)
	rule string                      // the theorem behind it
	// convex says that (alpha-1)*at(alpha) is convex, as for an exact
	// divergence; then epsilon has one minimum over the orders.
	convex bool
}

// atom is one value of a likelihood ratio e^loss and its probability under Q.
type atom struct{ q, loss float64 }

// divergence returns D_alpha(P||Q) of discrete likelihood ratios.
func divergence(atoms []atom, alpha float64) float64 {
	sum := math.Inf(-1)
	for _, a := range atoms {
		if a.q > 0 {
			y := math.Inf(1)
			if a.loss < 700 {
				y = bitmath.Expm1(a.loss)
			}
			sum = logAddExp(sum, bitmath.Log(a.q)+logExcess(alpha, y, a.loss))
		}
	}
	return renyi(alpha, sum)
}

// thin mixes P into Q at rate q: the pair ((1-q)Q+qP, Q).
func thin(atoms []atom, rate float64) []atom {
	out := make([]atom, len(atoms))
	for i, a := range atoms {
		out[i] = atom{a.q, bitmath.Log1p(rate * bitmath.Expm1(a.loss))}
	}
	return out
}

// reverse exchanges P and Q.
func reverse(atoms []atom) []atom {
	out := make([]atom, len(atoms))
	for i, a := range atoms {
		out[i] = atom{a.q * bitmath.Exp(a.loss), -a.loss}
	}
	return out
}

// response returns randomized response with the given epsilon, the worst pair of all
// epsilon-DP mechanisms (Kairouz, Oh, Viswanath 2015).
func response(eps float64) []atom {
	q := 1 / (1 + bitmath.Exp(eps)) // underflows harmlessly for large eps, see responseAt
	return []atom{{q, eps}, {1 - q, -eps}}
}

// responseAt returns the divergence of response in logarithms, for any epsilon.
func responseAt(eps, alpha float64) float64 {
	if math.IsInf(eps, 1) {
		return eps
	}
	if eps < 30 {
		return divergence(response(eps), alpha)
	}
	logQ := -eps - bitmath.Log1p(bitmath.Exp(-eps))
	logP := -bitmath.Log1p(bitmath.Exp(-eps))
	return logAddExp(float64(alpha*logP)+float64((1-alpha)*logQ), float64(alpha*logQ)+float64((1-alpha)*logP)) /
		(alpha - 1)
}

func pureCurve(eps float64, rule string) curve {
	return curve{at: func(a float64) float64 { return responseAt(eps, a) }, pure: eps, rule: rule, convex: true}
}

// exponentialCurve returns the bounded-range bound: an epsilon-DP exponential
// mechanism has log probability ratios in an interval of length epsilon, hence
// D_alpha <= min(epsilon, KL excess + epsilon^2 alpha/8) (Dong, Durfee, Rogers
// 2020; Cesar, Rogers 2021).
func exponentialCurve(eps float64) curve {
	return curve{pure: eps, rule: "bounded range (Dong, Durfee, Rogers 2020; Cesar, Rogers 2021)",
		at: func(a float64) float64 {
			if math.IsInf(eps, 1) {
				return eps
			}
			return math.Max(0, math.Min(eps, rangeExcess(eps)+float64(eps*eps/8*a)))
		}}
}

// rangeExcess returns eps/(e^eps-1) - 1 - ln(eps/(e^eps-1)) - eps^2/8; its series
// begins with -eps^4/576.
func rangeExcess(eps float64) float64 {
	if eps < 0.02 {
		return -bitmath.Pow(eps, 4) / 576
	}
	if eps > 600 {
		return -1 - bitmath.Log(eps) + eps - float64(eps*eps/8)
	}
	x := eps / bitmath.Expm1(eps)
	return x - 1 - bitmath.Log(x) - float64(eps*eps/8)
}

// laplaceAt returns the divergence of Laplace noise of scale b moved by 1 (Mironov
// 2017, proposition 6), in logarithms; the mean excess over [0, 1] and the two
// ends where that would lose digits.
func laplaceAt(b, alpha float64) float64 {
	if b == 0 {
		return math.Inf(1)
	}
	if (alpha-1)/b > 0.1 {
		w := bitmath.Log(float64(2*alpha) - 1)
		return logAddExp(bitmath.Log(alpha)-w+(alpha-1)/b, bitmath.Log(alpha-1)-w-alpha/b) / (alpha - 1)
	}
	return divergence(laplaceAtoms(b, alpha), alpha)
}

// sampledLaplaceAt returns the same for a Poisson sample of rate q under add or
// remove; the direction (mix || Laplace) is the larger one, because the pair has
// a reflection (Mironov, Talwar, Zhang 2019, theorem 5). Orders too high for the
// quadrature take the bound at order infinity.
func sampledLaplaceAt(b, q, alpha float64) float64 {
	switch {
	case q == 1:
		return laplaceAt(b, alpha)
	case alpha/b > 4000:
		return samplePure(1/b, q)
	}
	return divergence(thin(laplaceAtoms(b, alpha), q), alpha)
}

// samplePure returns ln(1+q(e^eps-1)).
func samplePure(eps, q float64) float64 {
	if eps > 700 {
		if q == 0 {
			return 0
		}
		return eps + bitmath.Log(q)
	}
	return bitmath.Log1p(q * bitmath.Expm1(eps))
}

// laplaceAtoms discretises Laplace(0, b) against its shift by 1 for moments up to
// order alpha: the two ends, where the loss is constant, are exact; between them
// a composite Gauss-Legendre rule, on panels over which the power of the ratio
// changes by at most e^2, integrates a smooth function (relative error < 1e-13).
func laplaceAtoms(b, alpha float64) []atom {
	atoms := []atom{{0.5, -1 / b}, {0.5 * bitmath.Exp(-1/b), 1 / b}}
	panels := 1 + int(alpha/b)
	w := 1 / float64(panels)
	for p := 0; p < panels; p++ {
		for i, node := range legendreNodes() {
			x := float64((float64(p) + 0.5 + float64(0.5*node)) * w)
			atoms = append(atoms, atom{legendreWeights()[i] / 2 * w * bitmath.Exp(-x/b) / (2 * b), (float64(2*x) - 1) / b})
		}
	}
	return atoms
}

// legendreNodes holds the nodes of the 8-point Gauss-Legendre rule on [-1, 1] (Abramowitz, Stegun table 25.4).
func legendreNodes() [8]float64 {
	return [8]float64{-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
		0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
}

func legendreWeights() [8]float64 {
	return [8]float64{0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
		0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
}

// geometricAtoms returns discrete Laplace noise of scale b against its shift by the
// integer m: Q at k has mass (1-r)/(1+r) r^|k|, r = e^(-1/b).
func geometricAtoms(b float64, m int) []atom {
	r := bitmath.Exp(-1 / b)
	mass := -bitmath.Expm1(-1/b) / (1 + r)
	atoms := []atom{{1 / (1 + r), -float64(m) / b}, {bitmath.Pow(r, float64(m)) / (1 + r), float64(m) / b}}
	for k := 1; k < m; k++ {
		atoms = append(atoms, atom{mass * bitmath.Pow(r, float64(k)), float64(2*k-m) / b})
	}
	return atoms
}

func atomCurve(atoms []atom, pure float64, rule string) curve {
	return curve{at: func(a float64) float64 { return divergence(atoms, a) }, pure: pure, rule: rule, convex: true}
}

// bothWays returns the larger divergence of the two directions of a pair.
func bothWays(atoms []atom, pure float64, rule string) curve {
	back := reverse(atoms)
	return curve{pure: pure, rule: rule, convex: true,
		at: func(a float64) float64 { return math.Max(divergence(atoms, a), divergence(back, a)) }}
}

// Conversion turns a Renyi divergence into (epsilon, delta).
type Conversion int

const (
	// Improved: eps = rdp + ln(1-1/alpha) - ln(delta*alpha)/(alpha-1) (Canonne,
	// Kamath, Steinke 2020, proposition 12; Balle et al. 2020). Never above Classic.
	Improved Conversion = iota
	// Classic: eps = rdp + ln(1/delta)/(alpha-1) (Mironov 2017, proposition 3).
	Classic
)

func (c Conversion) String() string {
	if c == Classic {
		return "classic"
	}
	return "improved"
}

// epsilon returns epsilon at one order; delta in (0, 1].
func (c Conversion) epsilon(alpha, rdp, delta float64) float64 {
	if c == Classic {
		return rdp - bitmath.Log(delta)/(alpha-1)
	}
	return rdp + bitmath.Log1p(-1/alpha) - (bitmath.Log(delta)+bitmath.Log(alpha))/(alpha-1)
}

// logDelta returns the logarithm of delta at one order.
func (c Conversion) logDelta(alpha, rdp, eps float64) float64 {
	if c == Classic {
		return (alpha - 1) * (rdp - eps)
	}
	return float64((alpha-1)*(rdp-eps+bitmath.Log1p(-1/alpha))) - bitmath.Log(alpha)
}

// IntegerOrders returns first, first+1, ..., last.
func IntegerOrders(first, last int) []float64 {
	orders := make([]float64, 0, last-first+1)
	for a := first; a <= last; a++ {
		orders = append(orders, float64(a))
	}
	return orders
}

// DefaultOrders returns the grid that other libraries use: 1.1 to 10.9 by
// tenths, 11 to 63, 128, 256, 512, 1024.
func DefaultOrders() []float64 {
	var orders []float64
	for i := 11; i < 110; i++ {
		orders = append(orders, float64(i)/10)
	}
	orders = append(orders, IntegerOrders(11, 63)...)
	return append(orders, 128, 256, 512, 1024)
}

// least returns the smallest value of f over the orders and where it is.
func least(orders []float64, f func(alpha float64) float64) (value, order float64) {
	value = math.Inf(1)
	for _, a := range orders {
		if v := f(a); v < value {
			value, order = v, a
		}
	}
	return value, order
}

// leastReal minimises over real orders: a coarse grid over alpha-1 from 1e-6 to
// 1e7, then golden sections between the neighbours of the best. For exact
// divergences f is quasi-convex (a convex cumulant over a linear function), so
// that this is the minimum; for other bounds it is an upper bound near it.
// floor returns a lower bound on f at an order, by what f has computed so far: an
// order whose floor is above the least value is none that f need be computed at.
func leastReal(f, floor func(alpha float64) float64) (value, order float64) {
	const perDecade, low, high = 2, -6, 7
	g := func(t float64) float64 { return f(1 + bitmath.Pow(10, t)) }
	best, point := math.Inf(1), 0.0
	try := func(i int) {
		t := float64(float64(i) / perDecade)
		if !math.IsInf(best, 1) && floor(1+bitmath.Pow(10, t)) > best+float64(1e-6*math.Abs(best)) {
			return
		}
		if v := g(t); v < best || v == best && t < point {
			best, point = v, t
		}
	}
	for i := usualOrder * perDecade; i >= low*perDecade; i-- {
		try(i)
	}
	for i := usualOrder*perDecade + 1; i <= high*perDecade; i++ {
		try(i)
	}
	if math.IsInf(best, 0) {
		return best, math.Inf(1)
	}
	t, v := goldenSection(g, point-1.0/perDecade, point+1.0/perDecade)
	if v < best {
		best, point = v, t
	}
	return best, 1 + bitmath.Pow(10, point)
}

// usualOrder is log10(alpha-1) of an order near the best one of most bills: the search begins there.
const usualOrder = 1

// nothingKnown returns a floor that leaves no order out.
func nothingKnown(float64) float64 { return math.Inf(-1) }

// goldenSection runs a golden section search; 24 steps shrink the bracket by 1e5, and the
// value, flat at the minimum, is then exact to about 1e-11.
func goldenSection(f func(float64) float64, a, b float64) (x, value float64) {
	r := (math.Sqrt(5) - 1) / 2
	x1, x2 := b-float64(r*(b-a)), a+float64(r*(b-a))
	f1, f2 := f(x1), f(x2)
	for range 24 {
		if f1 <= f2 {
			b, x2, f2 = x2, x1, f1
			x1 = b - float64(r*(b-a))
			f1 = f(x1)
		} else {
			a, x1, f1 = x1, x2, f2
			x2 = a + float64(r*(b-a))
			f2 = f(x2)
		}
	}
	if f1 <= f2 {
		return x1, f1
	}
	return x2, f2
}
