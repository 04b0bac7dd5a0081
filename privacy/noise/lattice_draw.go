package noise

import (
	"math"
	"slices"
)

// RoundToLattice rounds each number to the nearest multiple of step, a power of
// two, ties to even. The result is exact: above 2^24 steps a float32 is itself a
// multiple, above 2^53 a float64. NaN and infinities, which no sum of clipped
// contributions holds, become 0, so that a broken clip cannot pass them on.
func RoundToLattice[F float32 | float64](dst []F, step float64) {
	inverse := 1 / mustPowerOfTwo(step)
	for i, x := range dst {
		v := float64(math.RoundToEven(float64(x)*inverse) * step)
		if v-v != 0 {
			v = 0
		}
		dst[i] = F(v)
	}
}

// LatticeGaussian rounds each number of dst, which is finite, to the nearest multiple
// of step and adds an independent N(0, sigma^2) rounded to the nearest multiple of
// step. See Lattice for the guarantee; sigma/step must be in [2^-10, 2^40]. It draws
// blocks of blockNumbers normals, so the same calls in the same order give the same
// noise.
func (st *Stream) LatticeGaussian(dst []float32, sigma, step float64) {
	r := mustRounding(sigma, step)
	for len(dst) > 0 {
		n := min(len(dst), blockNumbers)
		words := st.words(n)
		var done [bufferBytes / 64]uint8
		best.addNoise(dst[:n], words, done[:], &r)
		st.waitRest(words, done[:])
		slices.SortStableFunc(st.pending, outsideFirst)
		for _, p := range st.pending {
			dst[p.at] = float32(r.onto(dst[p.at]) + float64(float64(st.steps(p.word, &r))*step))
		}
		dst = dst[n:]
	}
}

// LatticeGaussian64 is LatticeGaussian for float64 sums that are rounded already: of equal streams it adds the
// same noise. The sum is exact up to 2^53 steps; above, it is rounded to the nearest
// float64, a function of the exact sum alone.
func (st *Stream) LatticeGaussian64(dst []float64, sigma, step float64) {
	r := mustRounding(sigma, step)
	var steps [blockNumbers]int64
	for len(dst) > 0 {
		n := min(len(dst), blockNumbers)
		st.gaussianSteps(steps[:n], &r)
		for i, k := range steps[:n] {
			dst[i] += float64(float64(k) * step)
		}
		dst = dst[n:]
	}
}

// IntegerGaussian adds to each integer of dst an independent N(0, sigma^2) rounded
// to the nearest integer, sigma in [2^-10, 2^40]. Since dst holds integers this is
// the rounded sum: post-processing of the Gaussian mechanism. Sums must stay below
// 2^62 in size; the noise does below 2^45.
func (st *Stream) IntegerGaussian(dst []int64, sigma float64) {
	r := mustRounding(sigma, 1)
	var steps [blockNumbers]int64
	for len(dst) > 0 {
		n := min(len(dst), blockNumbers)
		st.gaussianSteps(steps[:n], &r)
		for i, k := range steps[:n] {
			dst[i] += k
		}
		dst = dst[n:]
	}
}

// mustPowerOfTwo returns step, which a caller takes from LatticeStep; any other
// spacing would make the sums inexact and the proof void.
func mustPowerOfTwo(step float64) float64 {
	if frac, _ := math.Frexp(step); frac != 0.5 {
		panic("noise: lattice step must be a positive power of two")
	}
	return step
}
