package kernel

import (
	"math"
)

func axpyGeneric(alpha float32, x, y []float32) {
	for i, v := range x {
		y[i] += float32(alpha * v)
	}
}

func scaleGeneric(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}

func addGeneric(dst, x, y []float32) {
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

func mulGeneric(dst, x, y []float32) {
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func clampGeneric(x []float32, lo, hi float32) {
	for i, v := range x {
		if v < lo {
			v = lo
		}
		if hi < v {
			v = hi
		}
		x[i] = v
	}
}

// sumSquaresGeneric sums in 8 lanes of float64, as the assembly does.
func sumSquaresGeneric(x []float32) float64 {
	var l [8]float64
	for i, v := range x {
		w := float64(v)
		l[i%8] += float64(w * w)
	}
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	return (a + c) + (b + d)
}

// whole is 2^23: a float32 of this size or more is an integer.
const whole = 1 << 23

func latticeRoundGeneric(dst []float32, step, inverse float32) {
	for i, x := range dst {
		q := x * inverse
		if q < whole && q > -whole {
			dst[i] = float32(math.RoundToEven(float64(q))) * step
		}
	}
}

func rowDotsGeneric(dst, x, y []float32, rows, cols, ldx, ldy int) {
	for i := range rows {
		dst[i] = dot(x[i*ldx:i*ldx+cols], y[i*ldy:i*ldy+cols])
	}
}

// dot sums in 16 lanes, as the assembly does.
func dot(x, y []float32) float32 {
	var lane [16]float32
	for j, v := range x {
		lane[j%16] += float32(v * y[j])
	}
	var half [8]float32
	for j := range half {
		half[j] = lane[j] + lane[j+8]
	}
	return sum8(&half)
}

func scaleRowsGeneric(dst, x []float32, rows, cols, ldd, ldx int, s []float32) {
	for i := range rows {
		d := dst[i*ldd : i*ldd+cols]
		for j, v := range x[i*ldx : i*ldx+cols] {
			d[j] = v * s[i]
		}
	}
}

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

// gemmGeneric computes the product in plain Go: each element of C is one chain of fused
// multiply-adds in the order of p, as in the assembly.
func gemmGeneric(j product) {
	for i := range j.m {
		if j.n == 0 {
			return
		}
		row := j.c[i*j.ldc : i*j.ldc+j.n]
		if !j.accumulate {
			clear(row)
		}
		switch {
		case j.transposed:
			rowTransposed(&j, row, i)
		default:
			rowPlain(&j, row, i)
		}
	}
}

func rowPlain(j *product, row []float32, i int) {
	for p := range j.k {
		scale := float32(1)
		if j.scale != nil {
			scale = j.scale[p]
		}
		fused(row, j.a[i*j.aRow+p*j.aCol], scale, j.b[p*j.ldb:])
	}
}

func rowTransposed(j *product, row []float32, i int) {
	if j.k == 0 {
		return
	}
	a := j.a[i*j.aRow:][:j.k]
	for q := range row {
		row[q] = fusedDot(row[q], a, j.b[q*j.ldb:][:len(a)])
	}
}

// gradient returns (g + noise)*scale at one index; noise may be nil.
func gradient(g, noise []float32, i int, scale float32) float32 {
	if noise == nil {
		return g[i] * scale
	}
	return float32(g[i]+noise[i]) * scale
}

func adamGeneric(w, m, v, g, noise []float32, c adamCoefficients) {
	for i := range w {
		e := gradient(g, noise, i, c.gscale)
		m[i] = float32(c.beta1*m[i]) + float32(c.rest1*e)
		v[i] = float32(c.beta2*v[i]) + float32(c.rest2*float32(e*e))
		root := float32(math.Sqrt(float64(v[i])))
		w[i] -= float32(c.step*m[i]) / (float32(root*c.root) + c.eps)
	}
}

func rmsPropGeneric(w, v, g, noise []float32, c rmsPropCoefficients) {
	for i := range w {
		e := gradient(g, noise, i, c.gscale)
		v[i] = float32(c.alpha*v[i]) + float32(c.rest*float32(e*e))
		root := float32(math.Sqrt(float64(v[i])))
		w[i] -= float32(c.step*e) / (root + c.eps)
	}
}

func momentumGeneric(w, m, g, noise []float32, c momentumCoefficients) {
	for i := range w {
		e := gradient(g, noise, i, c.gscale)
		m[i] = float32(c.momentum*m[i]) + e
		w[i] -= float32(c.step * m[i])
	}
}
