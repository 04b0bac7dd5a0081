package pld

import (
	"math"
	"math/bits"

	"weir/internal/bitmath"
)

// unit is the rounding unit of float64.
const unit = 0x1p-53

// tailDoubt is the tilted mass that windows may leave out, in total.
const tailDoubt = 1e-14

// power is count uses of a grid that holds inner uses of a pair.
type power struct {
	grid  *grid
	count int64
	pair  *pair
	inner float64
}

// window returns grid indices that hold the sum of all but 2*drop of the mass
// tilted by t, by Chernoff bounds on the cumulants of the grids.
func window(ps []power, t, h, drop float64) (lo, hi float64) {
	v := 0.0
	for _, p := range ps {
		_, _, w := p.pair.moments(t)
		v += float64(float64(p.count) * p.inner * w)
	}
	s0 := math.Sqrt(-2*bitmath.Log(drop)) / math.Max(math.Sqrt(v), h)
	bound := func(sign float64) func(float64) float64 {
		return func(f float64) float64 {
			s := s0 * bitmath.Exp(f)
			return (cumulant(ps, sign*s) - bitmath.Log(drop)) / s
		}
	}
	top, low := bound(1), bound(-1)
	hi = top(minimise(top, -4, 0.7, 0.4))
	lo = -low(minimise(low, -4, 0.7, 0.4))
	return sumRange(ps, math.Floor(lo/h)-1, math.Ceil(hi/h)+1)
}

// cumulant returns the cumulant of the composition of ps.
func cumulant(ps []power, s float64) float64 {
	k := 0.0
	for _, p := range ps {
		k += float64(float64(p.count) * p.grid.cumulant(s))
	}
	return k
}

// sumRange cuts [lo, hi] to the indices that the sum can reach at all.
func sumRange(ps []power, lo, hi float64) (float64, float64) {
	var least, most float64
	for _, p := range ps {
		least += float64(float64(p.count) * float64(p.grid.lo))
		most += float64(float64(p.count) * float64(p.grid.lo+len(p.grid.mass)-1))
	}
	return math.Max(lo, least), math.Min(hi, most)
}

// fftLength returns the least 2^a, 3*2^a or 5*2^a that is at least n.
func fftLength(n int) int {
	p := 1 << bits.Len(uint(max(n, 16)-1))
	for _, c := range []int{p / 8 * 5, p / 4 * 3} {
		if c >= n {
			return c
		}
	}
	return p
}

// convolve returns the composition of ps, all on multiples of h.
//
// The masses are laid out by index modulo the length of the transform: what lies
// outside of the window comes back inside at a wrong place and is part of doubt.
// Doubt also holds the rounding: a transform of masses that sum to 1 is off by at
// most g = 4 log2(n) units at each frequency, the product by the sum of count*g
// times the product of (|f|+g)^count / (|f|+g), the inverse by g again, and the
// total over the window is at most the root of the sum of squares over the
// frequencies (Parseval and Cauchy-Schwarz).
//
// It returns nil, and by how much, where the window is longer than maxPoints.
func convolve(ps []power, t, h, drop float64) (*grid, float64) {
	first, last := window(ps, t, h, drop)
	last = math.Max(first, last)
	if !(last-first < maxPoints && math.Abs(first) < 1<<53) {
		return nil, math.Max(2, math.Min((last-first)/maxPoints, 1e6))
	}
	lo, hi := int(first), int(last)
	n := fftLength(hi - lo + 1)
	out := &grid{h: h, lo: lo, mass: make([]float64, n), doubt: 2 * drop, cumulant: func(s float64) float64 {
		return cumulant(ps, s)
	}}
	fft := newFFT(n)
	g := 4 * unit * bitmath.Log2(float64(n))
	coefficients := make([][]complex128, len(ps))
	for i, p := range ps {
		coefficients[i] = fft.coefficients(p.grid.wrapped(n))
		out.scale += float64(float64(p.count) * p.grid.scale)
		out.doubt += float64(1.01 * float64(p.count) * p.grid.doubt)
	}
	product, squares := coefficients[0], 0.0
	for k := range product {
		var doubt float64
		product[k], doubt = multiply(ps, coefficients, k, g)
		squares += float64(2 * doubt * doubt)
	}
	out.doubt += math.Sqrt(squares)
	sum := fft.sequence(product)
	for i := range out.mass[:hi-lo+1] {
		out.mass[i] = math.Max(sum[modulo(lo+i, n)]/float64(n), 0)
	}
	out.mass = out.mass[:hi-lo+1]
	return out, 0
}

// multiply returns the product of the powers at frequency k and a bound on its
// rounding error and on what the inverse transform adds for it.
func multiply(ps []power, coefficients [][]complex128, k int, g float64) (complex128, float64) {
	log, relative := 0.0, g
	for i, p := range ps {
		a := size(coefficients[i][k]) + g
		log += float64(float64(p.count) * bitmath.Log(a))
		relative += float64(float64(p.count) * (g/a + 4*unit))
	}
	bound := bitmath.Exp(log)
	if bound < 1e-25 {
		return 0, bound
	}
	z := complex(1, 0)
	for i, p := range ps {
		z = times(z, raise(coefficients[i][k], p.count))
	}
	return z, bound * math.Min(relative, 1)
}

func raise(z complex128, n int64) complex128 {
	r := complex(1, 0)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = times(r, z)
		}
		z = times(z, z)
	}
	return r
}

func modulo(i, n int) int { return ((i % n) + n) % n }

func (g *grid) wrapped(n int) []float64 {
	out := make([]float64, n)
	pos := modulo(g.lo, n)
	for _, m := range g.mass {
		out[pos] += m
		if pos++; pos == n {
			pos = 0
		}
	}
	return out
}
