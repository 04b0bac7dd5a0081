package kernel

import "math"

// fused adds a*(scale*b) to c, each product scale*b rounded, and each sum rounded once
// with its product, as the vector units do it: float32 has no such operation in Go. The
// product of two float32 is exact in float64, and so is one rounding of the sum; the
// second, to float32, can go wrong only where the sum lies halfway between two float32,
// and then its last 28 bits are zero.
func fused(c []float32, a, scale float32, b []float32) {
	x := float64(a)
	for i, y := range b[:len(c)] {
		p, z := float64(x*float64(scale*y)), float64(c[i])
		if s := p + z; math.Float64bits(s)<<36 != 0 {
			c[i] = float32(s)
		} else {
			c[i] = addOnce(p, z)
		}
	}
}

// fusedDot returns c plus the products of a and b, added one by one as in fused.
func fusedDot(c float32, a, b []float32) float32 {
	for i, x := range a {
		p, z := float64(float64(x)*float64(b[i])), float64(c)
		if s := p + z; math.Float64bits(s)<<36 != 0 {
			c = float32(s)
		} else {
			c = addOnce(p, z)
		}
	}
	return c
}

// addOnce returns p+z rounded once, where the sum in float64 is even: moved by one unit
// towards what it lost, it is odd, and rounding that again rounds the sum (Boldo,
// Melquiond 2008, theorem 3).
//
//go:noinline
func addOnce(p, z float64) float32 {
	s := p + z
	of := s - p
	lost := (p - (s - of)) + (z - of) // exact (Knuth's two-sum)
	switch {
	case lost > 0 && s > 0, lost < 0 && s < 0:
		s = math.Float64frombits(math.Float64bits(s) + 1)
	case lost > 0, lost < 0:
		s = math.Float64frombits(math.Float64bits(s) - 1)
	}
	return float32(s)
}
