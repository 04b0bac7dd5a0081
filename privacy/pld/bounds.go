package pld

import "math"

// level returns the index-wise sums that give delta at the grid points: at point
// j, tail[j] = sum over i >= j of mass_i e^{-(t+1)(L_i-L_j)} and over[j] = sum
// over i > j of mass_i e^{-t(L_i-L_j)} (1-e^{-(L_i-L_j)}). The recursions add
// terms of one sign only.
func (s *sum) level() (tail, over []float64) {
	n := len(s.mass)
	tail, over = make([]float64, n), make([]float64, n)
	r0, r1, gap := math.Exp(-s.t*s.h), math.Exp(-(s.t+1)*s.h), -math.Expm1(-s.h)
	a, d := 0.0, 0.0
	for j := n - 1; j >= 0; j-- {
		d = r0 * (d + gap*a)
		a = s.mass[j] + r1*a
		tail[j], over[j] = a, d
	}
	return tail, over
}

// peak returns the largest effect of the doubtful mass on delta(eps), divided by
// e^{scale - t eps}.
func (s *sum) peak() float64 { return s.doubt * math.Exp(logPeak(s.t)) }

// delta returns the bound on delta(eps) of the finite losses.
func (s *sum) delta(eps float64, lower bool) float64 {
	if !lower {
		eps -= s.shift
	} else {
		eps += s.shift
	}
	var tail, over float64
	r0, r1, gap := math.Exp(-s.t*s.h), math.Exp(-(s.t+1)*s.h), -math.Expm1(-s.h)
	at := eps
	for j := len(s.mass) - 1; j >= 0; j-- {
		l := float64(s.lo+j) * s.h
		if l <= eps {
			break
		}
		over = r0 * (over + gap*tail)
		tail = s.mass[j] + r1*tail
		at = l
	}
	y := at - eps
	value := math.Exp(-s.t*y) * (over - tail*math.Expm1(-y))
	if lower {
		return math.Max(0, math.Exp(s.scale-s.t*eps)*(value-s.peak()))
	}
	return math.Exp(s.scale-s.t*eps) * (value + s.peak())
}

// epsilon returns the bound on the least eps at which the finite losses have at
// most the given delta, never below 0.
func (s *sum) epsilon(delta float64, lower bool) float64 {
	tail, over := s.level()
	sign, shift := 1.0, s.shift
	if lower {
		sign, shift = -1, -s.shift
	}
	doubt, target := sign*s.peak(), math.Log(delta)-s.scale
	for j := len(tail) - 1; j >= 0; j-- {
		l := float64(s.lo+j) * s.h
		if math.Log(math.Max(over[j]+doubt, 0)) <= target+s.t*l && l > 0 {
			continue
		}
		if j == len(tail)-1 {
			return math.Inf(1) // the doubt alone is above delta
		}
		// eps lies in [l, l+h]; delta there is e^{scale-t(l+h-y)}(...) at l+h-y.
		y := math.Exp(target+s.t*(l+s.h)) - doubt*math.Exp(s.t*s.h) - over[j+1]
		y = -math.Log1p(-math.Min(math.Max(y/tail[j+1], 0), 1-1e-16))
		return math.Max(0, l+s.h-math.Min(y, s.h)+shift)
	}
	return math.Max(0, float64(s.lo)*s.h+shift)
}
