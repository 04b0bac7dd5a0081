package noise

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"weir/internal/bitmath"
)

// Lattice is the grid on which a Gaussian release of a clipped sum happens.
//
// Input: a sum over the rows of a batch of contributions, each clipped to L2
// norm at most Clip and added up in float32. Release: RoundToLattice of the
// sum, then LatticeGaussian. Guarantee: the guarantee of the Gaussian mechanism with
// sensitivity Bound (twice that under replace_one) and standard deviation
// sigma, so the event is Gaussian{sigma / Bound}, with Clip < Bound such that
// rounding is paid for:
//
//  1. Under add_remove the true sums of neighbours differ by at most Clip (1 +
//     clipSlack), which allows for the rounding of the norms that clip. A
//     float32 sum of n products is off by at most g = n u / (1 - n u), u =
//     2^-24, times the sum of their sizes (Higham 2002, section 3.1), so the
//     vectors computed are each off by at most g n Clip (1 + clipSlack).
//  2. Rounding a vector to the grid moves each coordinate by at most Step/2.
//     Both neighbours are rounded, so their distance grows by at most Step
//     sqrt(dim). It is the sum that is rounded, once, not each contribution.
//  3. Together the rounded sums differ by at most Clip (1 + clipSlack) (1 + 2 g
//     n) + Step sqrt(dim) <= Bound. Under replace_one two contributions change
//     and the same terms give at most 2 Bound.
//  4. Let q be the rounded sum and N the normal vector. Since q lies on the
//     grid, q + round(N) = round(q + N): the release is a function of the
//     Gaussian mechanism's output, and post-processing costs nothing. Its low
//     bits carry nothing (Mironov 2012; docs/design.md section 6).
//
// float32 holds every grid point up to 2^24 steps. Above that the exact result
// is rounded to the nearest float32, which is again a function of round(q + N)
// alone: precision is lost, privacy is not.
//
// N is not exactly normal: Excess bounds what that costs.
type Lattice struct {
	Step float64 // spacing, a power of two
	Clip float64 // the L2 norm to clip each contribution at, below Bound
}

// clipSlack is the relative error allowed in the norm by which a contribution
// is clipped: 2^-12 covers float32 norms of 2000 coordinates in any order.
const clipSlack = 0x1p-12

// lossToRounding is the share of the bound that LatticeStep gives to rounding.
const lossToRounding = 0x1p-10

// NewLattice returns the grid for sums of dim coordinates in which at most rows
// contributions are added in float32 (0 if sums are exact), for the stated
// bound on a contribution and standard deviation sigma of the noise.
func NewLattice(bound, sigma float64, dim, rows int) (Lattice, error) {
	if !(bound > 0) || !(sigma > 0) || math.IsInf(bound, 0) || math.IsInf(sigma, 0) || dim < 1 || rows < 0 {
		return Lattice{}, fmt.Errorf("lattice: bound %g and sigma %g must be positive and finite, dim %d at least 1, rows "+
			"%d at least 0", bound, sigma, dim, rows)
	}
	step := LatticeStep(bound, sigma, dim)
	n := float64(rows)
	g := n * 0x1p-24 / (1 - float64(n*0x1p-24))
	if sigma/step > mostRatio {
		return Lattice{}, fmt.Errorf("lattice: sigma: %g is more than 2^40 steps of %g, for which nothing is proven; a "+
			"bound of %g needs less noise", sigma, step, bound)
	}
	if step < 0x1p-149 || step > 0x1p103 || g < 0 || 2*g*n > 1 {
		return Lattice{}, fmt.Errorf("lattice: step %g for %d rows is out of reach of float32; steps must be in [2^-149, "+
			"2^103] and rows at most about 2800", step, rows)
	}
	clip := (bound - float64(step*math.Sqrt(float64(dim)))) / ((1 + clipSlack) * (1 + float64(2*g*n)))
	return Lattice{Step: step, Clip: clip * (1 - 0x1p-50)}, nil
}

// CellError bounds how far the probability of a lattice point under LatticeGaussian,
// LatticeGaussian64 and IntegerGaussian is from its probability under the rounded normal law, as a
// factor exp(+-CellError), inside 16 sigma and for every sigma/step that is
// served. The mass beyond is below 2^-185. The factor is the one by which the density of
// the place drawn is off; rounding (see there) and place.fixed add less than 2^-58.
//
//   - Rectangles: layer i has density 1/(2048 e[i]) up to e[i], right to the
//     rounding of the table, 2^-53, and their sum is the curve.
//   - Corners: a place is accepted by its start, its width being at most 4.28 2^-53,
//     over which ln f falls by less than 2^-48; the test is off by less than 2^-47
//     (-2 ln y is at most 16.4 and good to one unit in its last place, as is x^2),
//     and so is y, of 53 bits. What of a rectangle is inside is rounded by at most one
//     position: 2^-48.
//   - Tail: it begins in the base layer with probability 1 - r/e[0] = 0.055, right
//     to 2^-47. In it the exponent of the acceptance, at most 73 for x below 16, is
//     compared with an error of at most 2^-44.6, most of it the two roundings of
//     t^2/2 and the one of ln; the strips' coins add 48 times 2^-62.
//
// 2^-44 is above the sum for each x.
const CellError = 0x1p-44

// Excess bounds by how much epsilon grows, over the epsilon of exactly normal noise, in a
// release of the given number of lattice points, however they are spread over
// adaptive steps. By strong composition (Dwork, Rothblum, Vadhan 2010) the release
// and its ideal are (a, delta)-close both ways, a = e sqrt(2 m ln(1/delta)) + m e^2
// with e = CellError, on either of two neighbours. So if the ideal is (epsilon,
// delta0)-DP the release is (epsilon + 2 a, e^a delta0 + (1 + e^(epsilon + 2 a))
// delta)-DP: at delta = 1e-30 the excess is below 1e-7 for 2e9 numbers and the rest
// below any delta that is asked for. The bound does not depend on the lattice: one
// for which it is not proven does not exist.
func (Lattice) Excess(numbers int64, delta float64) (epsilon float64) {
	m := float64(numbers)
	return 2 * (float64(CellError*math.Sqrt(2*m*-bitmath.Log(delta))) + float64(m*CellError*CellError))
}

// LatticeStep returns the largest power of two that leaves at least 1 - 2^-10 of
// the bound to the contributions and is at most sigma/16, so that rounding adds
// less than one part in 3000 to the variance of the noise.
func LatticeStep(bound, sigma float64, dim int) float64 {
	most := min(bound*lossToRounding/math.Sqrt(float64(dim)), sigma/16)
	_, exp := math.Frexp(most)
	return math.Ldexp(1, exp-1)
}

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
			dst[p.at] = float32(r.roundTo(dst[p.at]) + float64(float64(st.steps(p.word, &r))*step))
		}
		dst = dst[n:]
	}
}

// LatticeGaussian64 adds noise as LatticeGaussian does, to float64 sums that are rounded already: of equal streams it
// adds the same noise. The sum is exact up to 2^53 steps; above, it is rounded to the nearest
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

// mustRounding returns the rounding of sigma and step that NewLattice or a mechanism's Check passed.
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
	return rounding{ratio: ratio, limit: 0.5 - max(ratio*0x1p-49, 0x1p-52), mantissa: uint64(frac * 0x1p53),
		exponent: exp - 1}
}

// roundTo returns the multiple of step nearest to x, ties to even, exactly.
func (r *rounding) roundTo(x float32) float64 {
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
