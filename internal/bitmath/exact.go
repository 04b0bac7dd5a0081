package bitmath

import "math"

// sum returns a + b and its error, exactly (Knuth, volume 2, 4.2.2, theorem B).
func sum(a, b float64) (s, e float64) {
	s = a + b
	part := s - a
	return s, (a - (s - part)) + (b - part)
}

// joined returns what sum does where |a| >= |b| or a is 0 (Dekker 1971).
func joined(a, b float64) (s, e float64) {
	s = a + b
	return s, b - (s - a)
}

// upper returns x without the last 27 of its 53 bits: products of two such numbers are exact.
func upper(x float64) float64 {
	return math.Float64frombits(math.Float64bits(x) &^ (1<<27 - 1))
}

// times returns (x + xLow) (y + yLow), where xLow and yLow are errors of x and y: a product
// without an error and the rest, below 2^-24 of it, which together are good to 2^-75.
func times(x, xLow, y, yLow float64) (high, low float64) {
	front, other := upper(x), upper(y)
	low = float64(front*(y-other)) + float64((x-front)*y) + (float64(x*yLow) + float64(xLow*y))
	return float64(front * other), low
}

// over returns (x + xLow) / (y + yLow), likewise, rounded once: what a quotient of 26 bits
// leaves of x is known exactly.
func over(x, xLow, y, yLow float64) float64 {
	part := 1 / y
	rough, front := upper(float64(x*part)), upper(y)
	left := (x - float64(rough*front)) - float64(rough*((y-front)+yLow)) + xLow
	return rough + float64(left*part)
}
