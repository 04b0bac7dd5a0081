package noise

import "math"

// RoundToLattice64 is RoundToLattice for float64 sums, which hold every multiple
// of step up to 2^53 of them.
func RoundToLattice64(dst []float64, step float64) {
	inverse := 1 / mustPowerOfTwo(step)
	for i, x := range dst {
		v := math.RoundToEven(x*inverse) * step
		if v-v != 0 {
			v = 0
		}
		dst[i] = v
	}
}
