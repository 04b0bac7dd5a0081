package pld

import (
	"math"

	"weir/internal/bitmath"
)

// part is count uses of a pair.
type part struct {
	pair  *pair
	count float64
}

// moments returns ln M(t), where M(t) = sum p e^{t loss}, and the mean and the
// variance of the loss under the tilted masses p e^{t loss}/M(t).
func (p *pair) moments(t float64) (k, mean, variance float64) {
	top := math.Inf(-1)
	for _, a := range p.atoms {
		if a.p > 0 {
			top = math.Max(top, bitmath.Log(a.p)+float64(t*a.loss))
		}
	}
	if math.IsInf(top, -1) {
		return top, 0, 0
	}
	var sum, first, second float64
	for _, a := range p.atoms {
		w := weight(a, t, top)
		sum += w
		first += float64(w * a.loss)
	}
	mean = first / sum
	for _, a := range p.atoms {
		second += float64(weight(a, t, top) * (a.loss - mean) * (a.loss - mean))
	}
	return top + bitmath.Log(sum), mean, second / sum
}

// weight returns p e^{t loss - k}.
func weight(a atom, t, k float64) float64 {
	if a.p == 0 {
		return 0
	}
	e := float64(t*a.loss) - k
	if e < 600 && e > -600 {
		return a.p * bitmath.Exp(e)
	}
	return bitmath.Exp(bitmath.Log(a.p) + e)
}

// logM returns ln M(t) alone.
func (p *pair) logM(t float64) float64 {
	top := 0.0
	if n := len(p.atoms); n > 0 {
		top = math.Max(t*p.atoms[0].loss, t*p.atoms[n-1].loss)
	}
	if top > 500 {
		k, _, _ := p.moments(t)
		return k
	}
	sum := 0.0
	for _, a := range p.atoms {
		sum += float64(a.p * bitmath.Exp(t*a.loss))
	}
	return bitmath.Log(sum)
}

func logM(parts []part, t float64) float64 {
	k := 0.0
	for _, p := range parts {
		m := p.pair.logM(t)
		if p.pair.moment != nil {
			m = math.Min(m, p.pair.moment(t))
		}
		k += float64(p.count * m)
	}
	return k
}

// logPeak returns ln max over y >= 0 of e^{-ty}(1-e^{-y}), that is
// t ln t - (1+t) ln(1+t): no outcome adds more than M(t) e^{-t eps} times that
// and its tilted mass to delta(eps).
func logPeak(t float64) float64 {
	if t == 0 {
		return 0
	}
	return float64(-t*bitmath.Log1p(1/t)) - bitmath.Log1p(t)
}

// span returns the standard deviation of the sum of the losses under P.
func span(parts []part) float64 {
	v := 0.0
	for _, p := range parts {
		_, _, s := p.pair.moments(0)
		v += float64(p.count * s)
	}
	return math.Sqrt(v)
}

// tiltFor returns the order t that minimises cost(t), a moment bound, over the
// useful range: beyond 60 standard deviations no bound of interest improves.
func tiltFor(parts []part, sd float64, cost func(k, t float64) float64) float64 {
	f := func(s float64) float64 {
		t := bitmath.Exp(s)
		c := cost(logM(parts, t), t)
		if math.IsNaN(c) {
			return math.Inf(1)
		}
		return c
	}
	tol := 0.1
	for _, p := range parts {
		if p.pair.moment != nil { // the moment bound may be the answer itself
			tol = 1e-4
		}
	}
	return bitmath.Exp(minimise(f, bitmath.Log(1e-6/sd), bitmath.Log(60/sd), tol))
}

// minimise returns the minimiser of the unimodal f on [lo, hi] to within tol, by
// golden section. A wrong choice costs accuracy of the caller, never validity.
func minimise(f func(float64) float64, lo, hi, tol float64) float64 {
	g := (math.Sqrt(5) - 1) / 2
	a, b := hi-float64(g*(hi-lo)), lo+float64(g*(hi-lo))
	fa, fb := f(a), f(b)
	for hi-lo > tol {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - float64(g*(hi-lo))
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(g*(hi-lo))
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}
