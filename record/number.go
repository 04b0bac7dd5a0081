package record

import (
	"fmt"
	"math"
)

// Number shows a figure with six significant digits; +Inf is none, because no
// finite bound exists.
func Number(x float64) string {
	if math.IsInf(x, 1) {
		return "none"
	}
	return fmt.Sprintf("%.6g", x)
}

// Bound shows an upper bound with five significant digits, rounded up: a bound
// rounded down would claim more than was proven.
func Bound(x float64) string {
	if math.IsInf(x, 1) {
		return "none"
	}
	if !(x > 0) {
		return fmt.Sprintf("%.5g", x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-4)
	up := math.Ceil(x/unit*(1-1e-12)) * unit // 1 stays 1 in floating point
	return fmt.Sprintf("%.5g", up)
}
