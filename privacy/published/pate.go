package published

import (
	"math"

	"weir/internal/bitmath"
)

// PATECeiling is the most that the accountant of PATE-GAN comes to, whatever the votes are: each
// at its data-independent moment of order l, 2 lambda^2 l(l+1), where lambda is the inverse scale
// of the noise; min over l up to orders of (sum of moments + ln(1/delta))/l. It is public, as the
// number of votes is.
func PATECeiling(votes int64, lambda, delta float64, orders int) float64 {
	best := math.Inf(1)
	for l := 1.0; l <= float64(orders); l++ {
		moments := float64(float64(votes) * (2 * lambda * lambda * l * (l + 1)))
		best = math.Min(best, (moments+bitmath.Log(1/delta))/l)
	}
	return best
}
