package noise

import "weir/internal/bitmath"

// ln1m returns ln(1-q) for q in (0, 1) to a few units in the last place, by the
// correction for the rounding of 1-q of Goldberg 1991, theorem 4.
func ln1m(q float64) float64 {
	w := 1 - q
	if w == 1 {
		return -q
	}
	return float64(bitmath.Log(w)*q) / (1 - w)
}
