package pld

import (
	"math"

	"weir/internal/bitmath"
)

// fft is the discrete Fourier transform of real sequences of a length n from fftLength, by
// the method of Stockham (Van Loan 1992, section 1.7). It is our own because no product
// here may be fused with a sum: a bill must not depend on the processor
// (docs/design/bits.md).
//
// Rounding, in units of the masses, which sum to 1: a product with a root costs 4.3
// (the root 2, the product sqrt(5), Brent et al. 2007), a sum of r terms r-1 in the order
// of terms and log2(r) in pairs. So a factor 5 costs 8.3, 3 costs 6.3 and 4 costs 6.3, less
// than 4 log2 of them; the last factor, whose roots are all 1, at most 2, and the step
// to real sequences 6.3: together below 4 log2(n).
type fft struct {
	n     int
	roots []complex128 // exp(-2 pi i k/n)
	spare []complex128
}

func newFFT(n int) *fft {
	f := &fft{n: n, roots: make([]complex128, n), spare: make([]complex128, n/2)}
	step := 8 // of the parts of an octant, which are multiples of it
	for n%step != 0 {
		step /= 2
	}
	parts := make([][2]float64, n/step+1) // sines and cosines that the octants have in common
	for i := range parts {
		parts[i][0], parts[i][1] = bitmath.Sincos(math.Pi / 4 * (float64(i*step) / float64(n)))
	}
	for k := range f.roots {
		octant, part := octantOf(k, n)
		f.roots[k] = inOctant(octant, parts[part/step])
	}
	return f
}

// octantOf returns the eighth of a turn in which k/n of a turn lies, and how far it is from the nearest axis, in parts
// of n of an eighth.
func octantOf(k, n int) (octant, part int) {
	octant, part = 8*k/n, 8*k%n
	if octant%2 == 1 {
		part = n - part
	}
	return octant, part
}

// inOctant returns exp(-2 pi i k/n) of the octant by sine and cosine of the angle to the nearest axis, of at most an
// eighth of a turn.
func inOctant(octant int, angle [2]float64) complex128 {
	sin, cos := angle[0], angle[1]
	if octant%4 == 1 || octant%4 == 2 {
		sin, cos = cos, sin
	}
	if octant >= 2 && octant < 6 {
		cos = -cos
	}
	if octant < 4 {
		sin = -sin
	}
	return complex(cos, sin)
}

// coefficients returns the sums of x[j] exp(-2 pi i jk/n), for k from 0 to n/2.
func (f *fft) coefficients(x []float64) []complex128 {
	m := f.n / 2
	z := make([]complex128, m, m+1)
	for j := range z {
		z[j] = complex(x[2*j], x[2*j+1])
	}
	f.transform(z)
	z = append(z, z[0])
	for k := 0; k <= m-k; k++ {
		a, b := z[k], conj(z[m-k])
		even, odd := half(a+b), times(f.roots[k], half(turned(a-b)))
		z[k], z[m-k] = even+odd, conj(even-odd)
	}
	return z
}

// sequence returns n times the real sequence of the coefficients: the conjugate of a
// transform of conjugates.
func (f *fft) sequence(c []complex128) []float64 {
	m := f.n / 2
	z := make([]complex128, m)
	for k := range z {
		a, b := c[k], conj(c[m-k])
		z[k] = conj(a+b) + turned(times(f.roots[k], conj(a-b)))
	}
	f.transform(z)
	x := make([]float64, f.n)
	for j, v := range z {
		x[2*j], x[2*j+1] = real(v), -imag(v)
	}
	return x
}

// transform makes the transform of n/2 complex values, in place, a factor of the length at a time.
func (f *fft) transform(x []complex128) {
	src, dst := x, f.spare
	for m, stride := len(x), 1; m > 1; src, dst = dst, src {
		r := factor(m)
		m /= r
		for p := range m {
			if r == 4 {
				f.four(src, dst, p, m, stride)
			} else {
				f.direct(src, dst, r, p, m, stride)
			}
		}
		stride *= r
	}
	copy(x, src)
}

func factor(n int) int {
	for _, r := range []int{5, 3, 4} {
		if n%r == 0 {
			return r
		}
	}
	return 2
}

// direct takes r values, each m*stride after the one before, to r sums of them, each
// stride after the one before, for stride sets of values side by side.
func (f *fft) direct(x, y []complex128, r, p, m, stride int) {
	turn := f.n / (r * m)
	for k := range r {
		out := y[(p*r+k)*stride:][:stride]
		clear(out)
		for j := range r {
			root := f.roots[(p*k*turn+j*k*(f.n/r))%f.n]
			for i, v := range x[(p+j*m)*stride:][:stride] {
				out[i] += times(root, v)
			}
		}
	}
}

// four computes directly, for r of 4, whose inner roots are 1, -i, -1 and i: the sums of the first and
// third of four values and of the second and fourth give sums 0 and 2 of the transform, their
// differences, the second turned, sums 1 and 3.
func (f *fft) four(x, y []complex128, p, m, stride int) {
	turn := p * (f.n / (4 * m))
	once, twice, thrice := f.roots[turn], f.roots[2*turn], f.roots[3*turn]
	first, second, third, fourth := quarters(x, p, m, stride)
	sum0, sum1, sum2, sum3 := quarters(y, 4*p, 1, stride)
	for i, v := range first {
		w := third[i]
		even, evenGap := v+w, v-w
		v, w = second[i], fourth[i]
		odd, oddGap := v+w, turned(v-w)
		sum0[i], sum2[i] = even+odd, times(twice, even-odd)
		sum1[i], sum3[i] = times(once, evenGap+oddGap), times(thrice, evenGap-oddGap)
	}
}

// quarters returns four runs of size values, from place at on in units of size, each step after
// the one before.
func quarters(v []complex128, at, step, size int) (a, b, c, d []complex128) {
	run := func(k int) []complex128 { return v[(at+k*step)*size:][:size] }
	return run(0), run(1), run(2), run(3)
}

// times returns the product, each real product rounded before it is added: complex128 leaves
// that to the compiler.
func times(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

func conj(z complex128) complex128 { return complex(real(z), -imag(z)) }

// turned returns -i z.
func turned(z complex128) complex128 { return complex(imag(z), -real(z)) }

func half(z complex128) complex128 { return complex(float64(real(z)/2), float64(imag(z)/2)) }

// size returns the absolute value, for values that do not overflow when squared.
func size(z complex128) float64 {
	return math.Sqrt(float64(real(z)*real(z)) + float64(imag(z)*imag(z)))
}
