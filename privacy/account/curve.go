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

// response is randomized response with the given epsilon, the worst pair of all
// epsilon-DP mechanisms (Kairouz, Oh, Viswanath 2015).
func response(eps float64) []atom {
	q := 1 / (1 + bitmath.Exp(eps)) // underflows harmlessly for large eps, see responseAt
	return []atom{{q, eps}, {1 - q, -eps}}
}

// responseAt is the divergence of response in logarithms, for any epsilon.
func responseAt(eps, alpha float64) float64 {
	if math.IsInf(eps, 1) {
		return eps
	}
	if eps < 30 {
		return divergence(response(eps), alpha)
	}
	logQ := -eps - bitmath.Log1p(bitmath.Exp(-eps))
	logP := -bitmath.Log1p(bitmath.Exp(-eps))
	return logAddExp(float64(alpha*logP)+float64((1-alpha)*logQ), float64(alpha*logQ)+float64((1-alpha)*logP)) / (alpha - 1)
}

func pureCurve(eps float64, rule string) curve {
	return curve{at: func(a float64) float64 { return responseAt(eps, a) }, pure: eps, rule: rule, convex: true}
}

// exponentialCurve is the bounded-range bound: an epsilon-DP exponential
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

// rangeExcess is eps/(e^eps-1) - 1 - ln(eps/(e^eps-1)) - eps^2/8; its series
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

// laplaceAt is the divergence of Laplace noise of scale b moved by 1 (Mironov
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

// sampledLaplaceAt is the same for a Poisson sample of rate q under add or
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

// samplePure is ln(1+q(e^eps-1)).
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

// The 8-point Gauss-Legendre rule on [-1, 1] (Abramowitz, Stegun table 25.4).
func legendreNodes() [8]float64 {
	return [8]float64{-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
		0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
}

func legendreWeights() [8]float64 {
	return [8]float64{0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
		0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
}

// geometricAtoms is discrete Laplace noise of scale b against its shift by the
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

// bothWays is the larger divergence of the two directions of a pair.
func bothWays(atoms []atom, pure float64, rule string) curve {
	back := reverse(atoms)
	return curve{pure: pure, rule: rule, convex: true,
		at: func(a float64) float64 { return math.Max(divergence(atoms, a), divergence(back, a)) }}
}
