package pld

import (
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// unit is the rounding unit of float64.
const unit = 0x1p-53

// tailDoubt is the tilted mass that windows may leave out, in total.
const tailDoubt = 1e-13

// power is count uses of a grid.
type power struct {
	grid  *grid
	count int64
}

// window returns grid indices that hold the sum of all but 2*drop of the tilted
// mass, by Chernoff bounds.
func window(ps []power, h, drop float64) (lo, hi float64) {
	mean, v := 0.0, 0.0
	for _, p := range ps {
		v += float64(p.count) * p.grid.variance()
		mean += float64(p.count) * p.grid.mean()
	}
	s0 := math.Sqrt(-2*math.Log(drop)) / math.Max(math.Sqrt(v), h)
	top, low := math.Inf(1), math.Inf(-1)
	for _, f := range []float64{1, 0.7, 0.45, 0.25, 0.1} {
		var up, down float64
		for _, p := range ps {
			up += float64(p.count) * p.grid.logM(s0*f)
			down += float64(p.count) * p.grid.logM(-s0*f)
		}
		top = math.Min(top, (up-math.Log(drop))/(s0*f))
		low = math.Max(low, (math.Log(drop)-down)/(s0*f))
	}
	return sumRange(ps, math.Floor(low/h)-1, math.Ceil(top/h)+1)
}

// sumRange cuts [lo, hi] to the indices that the sum can reach at all.
func sumRange(ps []power, lo, hi float64) (float64, float64) {
	var least, most float64
	for _, p := range ps {
		least += float64(p.count) * float64(p.grid.lo)
		most += float64(p.count) * float64(p.grid.lo+len(p.grid.mass)-1)
	}
	return math.Max(lo, least), math.Min(hi, most)
}

func (g *grid) mean() float64 {
	m := 0.0
	for i, w := range g.mass {
		m += w * float64(g.lo+i)
	}
	return m * g.h
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
// total over the window is at most the sum over the frequencies.
//
// It returns nil, and by how much, where the window is longer than maxPoints.
func convolve(ps []power, h, drop float64) (*grid, float64) {
	first, last := window(ps, h, drop)
	if !(last-first < maxPoints && math.Abs(first) < 1<<53) {
		return nil, math.Max(2, math.Min((last-first)/maxPoints, 1e6))
	}
	lo, hi := int(first), int(last)
	n := fftLength(hi - lo + 1)
	out := &grid{h: h, lo: lo, mass: make([]float64, n), doubt: 2 * drop}
	fft := fourier.NewFFT(n)
	g := 4 * unit * math.Log2(float64(n))
	coefficients := make([][]complex128, len(ps))
	for i, p := range ps {
		coefficients[i] = fft.Coefficients(nil, p.grid.wrapped(n))
		out.scale += float64(p.count) * p.grid.scale
		out.doubt += 1.01 * float64(p.count) * p.grid.doubt
	}
	product := coefficients[0]
	for k := range product {
		var doubt float64
		product[k], doubt = multiply(ps, coefficients, k, g)
		out.doubt += 2 * doubt
	}
	sum := fft.Sequence(nil, product)
	for i := range out.mass[:hi-lo+1] {
		out.mass[i] = math.Max(sum[modulo(lo+i, n)]/float64(n), 0)
	}
	out.mass = out.mass[:hi-lo+1]
	return out, 0
}

// multiply returns the product of the powers at frequency k and a bound on its
// rounding error and on what the inverse transform adds for it.
func multiply(ps []power, coefficients [][]complex128, k int, g float64) (complex128, float64) {
	size, relative := 0.0, g
	for i, p := range ps {
		a := cmplx.Abs(coefficients[i][k]) + g
		size += float64(p.count) * math.Log(a)
		relative += float64(p.count) * (g/a + 4*unit)
	}
	bound := math.Exp(size)
	if bound < 1e-25 {
		return 0, bound
	}
	z := complex(1, 0)
	for i, p := range ps {
		z *= raise(coefficients[i][k], p.count)
	}
	return z, bound * math.Min(relative, 1)
}

func raise(z complex128, n int64) complex128 {
	r := complex(1, 0)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= z
		}
		z *= z
	}
	return r
}

func modulo(i, n int) int { return ((i % n) + n) % n }

func (g *grid) wrapped(n int) []float64 {
	out := make([]float64, n)
	at := modulo(g.lo, n)
	for _, m := range g.mass {
		out[at] += m
		if at++; at == n {
			at = 0
		}
	}
	return out
}
