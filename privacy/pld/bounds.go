package pld

import (
	"math"

	"weir/internal/bitmath"
)

// level returns the index-wise sums that give delta at the grid points: at point
// j, tail[j] = sum over i >= j of mass_i e^{-(t+1)(L_i-L_j)} and over[j] = sum
// over i > j of mass_i e^{-t(L_i-L_j)} (1-e^{-(L_i-L_j)}). The recursions add
// terms of one sign only.
func (s *sum) level() (tail, over []float64) {
	n := len(s.mass)
	tail, over = make([]float64, n), make([]float64, n)
	r0, r1, gap := bitmath.Exp(-s.t*s.h), bitmath.Exp(-(s.t+1)*s.h), -bitmath.Expm1(-s.h)
	a, d := 0.0, 0.0
	for j := n - 1; j >= 0; j-- {
		d = float64(r0 * (d + float64(gap*a)))
		a = s.mass[j] + float64(r1*a)
		tail[j], over[j] = a, d
	}
	return tail, over
}

// peak returns the largest effect of the doubtful mass on delta(eps), divided by
// e^{scale - t eps}.
func (s *sum) peak() float64 { return s.doubt * bitmath.Exp(logPeak(s.t)) }

func (s *sum) logDoubt() float64 { return bitmath.Log(s.doubt) + logPeak(s.t) }

// delta returns the bound on delta(eps) of the finite losses.
func (s *sum) delta(eps float64, lower bool) float64 {
	if !lower {
		eps -= s.shift
	} else {
		eps += s.shift
	}
	var tail, over float64
	r0, r1, gap := bitmath.Exp(-s.t*s.h), bitmath.Exp(-(s.t+1)*s.h), -bitmath.Expm1(-s.h)
	at := eps
	for j := len(s.mass) - 1; j >= 0; j-- {
		l := float64(s.lo+j) * s.h
		if l <= eps {
			break
		}
		over = float64(r0 * (over + float64(gap*tail)))
		tail = s.mass[j] + float64(r1*tail)
		at = l
	}
	y := at - eps
	value := float64(bitmath.Exp(-s.t*y) * (over - float64(tail*bitmath.Expm1(-y))))
	if lower {
		return math.Max(0, bitmath.Exp(s.scale-float64(s.t*eps))*(value-s.peak()))
	}
	return bitmath.Exp(s.scale-float64(s.t*eps)) * (value + s.peak())
}

// epsilon returns the bound on the least eps at which the finite losses have at
// most the given delta, never below 0.
func (s *sum) epsilon(delta float64, lower bool) float64 {
	tail, over := s.level()
	target := bitmath.Log(delta) - s.scale
	sign, shift := 1.0, s.shift
	if lower {
		sign, shift = -1, -s.shift
	}
	// above the window only the doubt is left, which falls by t
	if top, end := (s.logDoubt()-target)/s.t, float64(s.lo+len(tail)-1)*s.h; !lower && top > end {
		return math.Max(0, top+shift)
	}
	for j := len(tail) - 1; j >= 0; j-- {
		l, reach := float64(float64(s.lo+j)*s.h), s.h
		if j == 0 {
			reach = math.Max(reach, l) // below the window delta still rises
		}
		c := cell{over: over[j], tail: tail[j], doubt: sign * s.peak(), t: s.t, target: bitmath.Exp(target + float64(s.t*l)), log: target + float64(s.t*l)}
		y, found := c.cross(reach, lower)
		if found {
			return math.Max(0, l-y+shift)
		}
		if l <= 0 {
			break
		}
	}
	return math.Max(0, shift)
}

// cell is delta(l-y) for y >= 0, times e^{tl-scale}, and the target on that scale.
type cell struct{ over, tail, doubt, t, target, log float64 }

func (c cell) exceeds(y float64) bool {
	known := c.over - float64(c.tail*bitmath.Expm1(-y))
	if c.log < 600 && c.t*y < 600 {
		return known+float64(c.doubt*bitmath.Exp(c.t*y)) > c.target
	}
	if c.doubt < 0 {
		return bitmath.Log(known) > c.log && bitmath.Log(known)-bitmath.Log(-c.doubt)-float64(c.t*y) > math.Ln2 // half of it is sure
	}
	return math.Max(bitmath.Log(known), bitmath.Log(c.doubt)+float64(c.t*y)) > c.log-math.Ln2 // one of the two is at least half
}

// cross returns where delta exceeds the target in the cell: for the upper bound
// the largest y up to which it does not, for the lower one a y at which it does.
func (c cell) cross(h float64, lower bool) (y float64, found bool) {
	lo, hi := 0.0, h
	if lower {
		nominal := math.Max(0, -bitmath.Log1p(-math.Min((c.target-c.over)/c.tail, 1)))
		for _, f := range []float64{0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 1} {
			if hi = nominal + float64(f*(h-nominal)); nominal <= h && c.exceeds(hi) {
				found = true
				break
			}
		}
	}
	if !lower {
		found = c.exceeds(hi)
	}
	for i := 0; found && i < 60; i++ {
		if y = (lo + hi) / 2; c.exceeds(y) {
			hi = y
		} else {
			lo = y
		}
	}
	if lower {
		return hi, found
	}
	return lo, found
}
