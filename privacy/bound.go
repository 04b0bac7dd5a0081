package privacy

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
)

// Bound shows an upper bound with five significant digits, rounded up: a bound
// rounded down would claim more than was proven. +Inf is none, because no finite
// bound exists.
func Bound(x float64) string { return rounded(x, 5, math.Ceil, 1-1e-12) }

// BoundTo is Bound with so many significant digits, up to 9.
func BoundTo(digits int, x float64) string { return rounded(x, digits, math.Ceil, 1-1e-12) }

// Room shows what is left of a bound with five significant digits, rounded down.
func Room(x float64) string { return rounded(x, 5, math.Floor, 1+1e-12) }

// rounded rounds to so many digits; slack keeps what is exact there, such as 1,
// as it is in floating point.
func rounded(x float64, digits int, to func(float64) float64, slack float64) string {
	switch {
	case math.IsInf(x, 1):
		return "none"
	case !(x > 0):
		return fmt.Sprintf("%.*g", digits, x)
	}
	unit := bitmath.Pow(10, math.Floor(bitmath.Log10(x))-float64(digits-1))
	return fmt.Sprintf("%.*g", digits, to(x/unit*slack)*unit)
}
