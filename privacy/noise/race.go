package noise

import (
	"math"

	"weir/internal/bitmath"
)

// Race returns an index i with probability proportional to exp(logWeights[i]),
// -Inf standing for a weight of 0; -1 where no weight is positive. It is the
// race of exponential clocks of these rates, run in logarithms, the same as the
// Gumbel-max trick.
//
// The clocks are good to 53 bits at both ends. In [-4096, 4096] the rounding of
// a sum of logarithms shifts a weight by a factor within exp(+-2^-39), so the
// probability of each index is right to within exp(+-2^-38), and nothing but
// the index comes out.
func (st *Stream) Race(logWeights []float64) int {
	winner, best := -1, math.Inf(1)
	for i, w := range logWeights {
		if t := bitmath.Log(st.exponential()) - w; t < best {
			winner, best = i, t
		}
	}
	return winner
}
