package privacy

import (
	"fmt"
	"math"

	"weir/internal/portable"
)

// Bound shows an upper bound with five significant digits, rounded up: a bound
// rounded down would claim more than was proven. +Inf is none, because no finite
// bound exists.
func Bound(x float64) string { return rounded(x, math.Ceil, 1-1e-12) }

// Room shows what is left of a bound with five significant digits, rounded down.
func Room(x float64) string { return rounded(x, math.Floor, 1+1e-12) }

// rounded rounds to the fifth digit; slack keeps what is exact there, such as 1,
// as it is in floating point.
func rounded(x float64, to func(float64) float64, slack float64) string {
	switch {
	case math.IsInf(x, 1):
		return "none"
	case !(x > 0):
		return fmt.Sprintf("%.5g", x)
	}
	unit := portable.Pow(10, math.Floor(portable.Log10(x))-4)
	return fmt.Sprintf("%.5g", to(x/unit*slack)*unit)
}
