package record

import (
	"fmt"
	"math"

	"weir/privacy"
)

// Number shows a figure with six significant digits; +Inf is none, because no
// finite bound exists.
func Number(x float64) string {
	if math.IsInf(x, 1) {
		return "none"
	}
	return fmt.Sprintf("%.6g", x)
}

// Bound shows an upper bound with five significant digits, rounded up.
func Bound(x float64) string { return privacy.Bound(x) }
