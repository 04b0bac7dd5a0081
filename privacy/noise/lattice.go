package noise

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
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
		return Lattice{}, fmt.Errorf("lattice: bound %g and sigma %g must be positive and finite, dim %d at least 1, rows %d at least 0", bound, sigma, dim, rows)
	}
	step := LatticeStep(bound, sigma, dim)
	n := float64(rows)
	g := n * 0x1p-24 / (1 - float64(n*0x1p-24))
	if sigma/step > mostRatio {
		return Lattice{}, fmt.Errorf("lattice: sigma: %g is more than 2^40 steps of %g, for which nothing is proven; a bound of %g needs less noise", sigma, step, bound)
	}
	if step < 0x1p-149 || step > 0x1p103 || g < 0 || 2*g*n > 1 {
		return Lattice{}, fmt.Errorf("lattice: step %g for %d rows is out of reach of float32; steps must be in [2^-149, 2^103] and rows at most about 2800", step, rows)
	}
	clip := (bound - float64(step*math.Sqrt(float64(dim)))) / ((1 + clipSlack) * (1 + float64(2*g*n)))
	return Lattice{Step: step, Clip: clip * (1 - 0x1p-50)}, nil
}

// CellError bounds how far the probability of a lattice point under LatticeGaussian,
// LatticeGaussian64 and IntegerGaussian is from that of the rounded normal law, as a
// factor exp(+-CellError), inside 16 sigma and for every sigma/step that is
// served. The mass beyond is below 2^-185. The factor is that of the density of
// the place drawn; rounding (see there) and place.fixed add less than 2^-58.
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

// Excess bounds by how much epsilon grows, over that of exactly normal noise, in a
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
