package bitmath

import "math"

// Pow returns x^y, with the special cases of math.Pow.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return math.NaN()
	case y == 1:
		return x
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return powOfLimits(x, y)
	case x > 0:
		return powOfPositive(x, y)
	case odd(y):
		return -powOfPositive(-x, y)
	case y == math.Trunc(y):
		return powOfPositive(-x, y)
	}
	return math.NaN()
}

func odd(y float64) bool { return math.Abs(math.Mod(y, 2)) == 1 }

// powOfPositive returns e^(y ln x) of finite numbers.
func powOfPositive(x, y float64) float64 {
	high, low := logParts(x, 0)
	switch rough := float64(high * y); {
	case rough > 710:
		return math.Inf(1)
	case rough < -746:
		return 0
	case math.Abs(rough) < 0x1p-60: // where e^t is 1, and y may have no upper half
		return 1
	}
	high, low = joined(times(high, low, y, 0))
	high, low, k := expParts(high, low)
	return timesPower(high+low, k)
}

// powOfLimits returns x^y where x is 0 or one of them is infinite, as C99 has it (annex F.9.4.4).
func powOfLimits(x, y float64) float64 {
	size := math.Abs(x)
	switch {
	case size == 1: // (-1)^±Inf
		return 1
	case size > 1 == (y > 0):
		size = math.Inf(1)
	default:
		size = 0
	}
	if math.Signbit(x) && odd(y) {
		return -size
	}
	return size
}
