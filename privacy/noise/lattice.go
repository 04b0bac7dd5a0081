package noise

import (
	"fmt"
	"math"
)

// Lattice is the grid on which a Gaussian release of a clipped sum happens.
//
// Input: a sum over the rows of a batch of contributions, each clipped to L2
// norm at most Clip and added up in float32. Release: RoundToLattice of the
// sum, then LatticeGaussian. Guarantee: that of the Gaussian mechanism with
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
//     bits carry nothing (Mironov 2012; DESIGN section 6).
//
// float32 holds every grid point up to 2^24 steps. Above that the exact result
// is rounded to the nearest float32, which is again a function of round(q + N)
// alone: precision is lost, privacy is not.
//
// N itself comes from the 53-bit ziggurat. A grid cell has the normal
// probability up to a factor within 1 +- e, e = 2^-48 sigma/Step, inside 16
// sigma (see Gaussian; the last factor of 4 is for the rounding of N
// sigma/Step), and the mass beyond is below 2^-185. Composed over m numbers by
// the strong composition theorem this is an excess of at most 2 e sqrt(2 m
// ln(1/d)) + 2 m e^2 in epsilon and d in delta: for 2e9 numbers (20,000 steps of
// 100,000 weights), sigma/Step = 2^18 and d = 1e-12, under 0.0007.
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
		return Lattice{}, fmt.Errorf("lattice: bound %g and sigma %g must be positive and finite, dim %d at least 1, rows %d at least 0", bound, sigma, dim, rows)
	}
	step := LatticeStep(bound, sigma, dim)
	n := float64(rows)
	g := n * 0x1p-24 / (1 - n*0x1p-24)
	if step < 0x1p-149 || step > 0x1p103 || g < 0 || 2*g*n > 1 {
		return Lattice{}, fmt.Errorf("lattice: step %g for %d rows is out of reach of float32; steps must be in [2^-149, 2^103] and rows at most about 2800", step, rows)
	}
	clip := (bound - step*math.Sqrt(float64(dim))) / ((1 + clipSlack) * (1 + 2*g*n))
	return Lattice{Step: step, Clip: clip * (1 - 0x1p-50)}, nil
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
// multiple. NaN and infinities, which no sum of clipped contributions holds,
// become 0, so that a broken clip cannot pass them on.
func RoundToLattice(dst []float32, step float64) {
	inverse := 1 / mustPowerOfTwo(step)
	for i, x := range dst {
		v := math.RoundToEven(float64(x)*inverse) * step
		if v-v != 0 {
			v = 0
		}
		dst[i] = float32(v)
	}
}

// LatticeGaussian adds to each number of dst, a multiple of step, an independent
// N(0, sigma^2) rounded to the nearest multiple of step. See Lattice for the
// guarantee. It draws blocks of blockNumbers normals, so the same calls in the same
// order give the same noise.
func (st *Stream) LatticeGaussian(dst []float32, sigma, step float64) {
	ratio := sigma / mustPowerOfTwo(step)
	var normal [blockNumbers]float64
	for len(dst) > 0 {
		n := min(len(dst), len(normal))
		st.Gaussian(normal[:n])
		best.addRounded(dst[:n], normal[:n], ratio, step)
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
