package bitmath

import "math"

// Tanh returns the hyperbolic tangent of x: t / (t+2) with t = e^2x - 1.
func Tanh(x float64) float64 {
	size := math.Abs(x)
	switch {
	case x != x || size < 0x1p-28: // where the cube does not count
		return x
	case size > 20: // where 1 less the tangent is below 2^-56
		return math.Copysign(1, x)
	}
	t, low := expm1Parts(2 * size)
	two, error := sum(t, 2)
	return math.Copysign(over(t, low, two, error+low), x)
}
