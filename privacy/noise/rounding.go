package noise

import (
	"math"
	"math/bits"
)

// rounding turns normal numbers x into round(x ratio), the nearest integer, as if x
// had 117 bits of position.
//
// The fast path takes t, x ratio in float64, and rounds it. x is the start of its
// interval, at most 4.28 2^-53 below any number in it; rounding x and t moves t by
// at most 4.28 2^-52 ratio. Together that is below 2^-49 ratio, so where t is
// farther than that from the middle of two integers every number of the interval
// has t's rounding and its low bits need not be drawn. Elsewhere, one number in
// 2^48/ratio, they are drawn, and the integer is found by integers.
type rounding struct {
	ratio    float64
	limit    float64 // from this distance to the integer on the low bits matter
	mantissa uint64  // ratio = mantissa 2^(exponent-52)
	exponent int

	step, inverse float64 // of the lattice, a power of two
}

// The ratios that are served. Above, integers leave the exact range of the fast
// path's margins; below there is hardly noise.
const (
	leastRatio = 0x1p-10
	mostRatio  = 0x1p40
)

// mustRounding is for sigma and step that NewLattice or a mechanism's Check passed.
func mustRounding(sigma, step float64) rounding {
	ratio := sigma / mustPowerOfTwo(step)
	if !(ratio >= leastRatio && ratio <= mostRatio) {
		panic("noise: sigma/step must be in [2^-10, 2^40]")
	}
	r := newRounding(ratio)
	r.step, r.inverse = step, 1/step
	return r
}

func newRounding(ratio float64) rounding {
	frac, exp := math.Frexp(ratio)
	return rounding{ratio: ratio, limit: 0.5 - max(ratio*0x1p-49, 0x1p-52), mantissa: uint64(frac * 0x1p53), exponent: exp - 1}
}

// onto returns the multiple of step nearest to x, ties to even, exactly.
func (r *rounding) onto(x float32) float64 {
	return float64(math.RoundToEven(float64(x)*r.inverse) * r.step)
}

// nearest returns floor(x ratio + 1/2) for x = place / 2^placeBits, exactly. x is
// below 2^17, so that the product has at most 181 bits; ratio is in [2^-10, 2^53).
func (r *rounding) nearest(x wide) int64 {
	shift := placeBits + 52 - r.exponent // from 111 to 173
	carry, _ := bits.Mul64(x.lo, r.mantissa)
	high, mid := bits.Mul64(x.hi, r.mantissa)
	mid, c := bits.Add64(mid, carry, 0)
	high += c
	if shift > 128 {
		return int64((high + 1<<(shift-129)) >> (shift - 128))
	}
	mid, c = bits.Add64(mid, 1<<(shift-65), 0)
	return int64((high+c)<<(128-shift) | mid>>(shift-64))
}

// steps finishes a pending number.
func (st *Stream) steps(word uint64, r *rounding) int64 {
	k := r.nearest(st.finish(word).fixed(st.Uint64()))
	if word>>10&1 == 1 {
		return -k
	}
	return k
}

// waitNear puts the numbers whose low bits matter into st.pending.
func (st *Stream) waitNear(normal []float64, words []byte, r *rounding) {
	for i, z := range normal {
		if t := float64(z * r.ratio); math.Abs(t-math.RoundToEven(t)) >= r.limit {
			st.wait(i, words)
		}
	}
}

// outsideFirst puts numbers outside the fast path before those near a middle, the
// order in which gaussianSteps finishes them.
func outsideFirst(a, b pending) int {
	_, x := number(a.word)
	_, y := number(b.word)
	return int(x) - int(y)
}

// gaussianSteps fills dst, at most blockNumbers, with independent round(N ratio).
func (st *Stream) gaussianSteps(dst []int64, r *rounding) {
	var normal [blockNumbers]float64
	words := st.normals(normal[:len(dst)])
	st.waitNear(normal[:len(dst)], words, r)
	for i := range dst {
		dst[i] = int64(math.RoundToEven(normal[i] * r.ratio))
	}
	for _, p := range st.pending {
		dst[p.at] = st.steps(p.word, r)
	}
}
