package kernel

import (
	"fmt"
	"math"
)

// Axpy adds alpha*x to y.
func Axpy(alpha float32, x, y []float32) {
	checkSame("Axpy", len(x), len(y))
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		best.axpy(alpha, x[lo:hi], y[lo:hi])
	}
}

// Scale multiplies x by alpha in place. Scaling by zero keeps NaN: use clear to drop.
func Scale(alpha float32, x []float32) {
	for lo := 0; lo < len(x); lo += block {
		best.scale(alpha, x[lo:min(lo+block, len(x))])
	}
}

// Add sets dst = x+y.
func Add(dst, x, y []float32) {
	checkSame("Add", len(dst), len(x), len(y))
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		best.add(dst[lo:hi], x[lo:hi], y[lo:hi])
	}
}

// Mul sets dst = x*y, element by element.
func Mul(dst, x, y []float32) {
	checkSame("Mul", len(dst), len(x), len(y))
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		best.mul(dst[lo:hi], x[lo:hi], y[lo:hi])
	}
}

// Clamp limits x to [lo, hi] in place. NaN stays NaN.
func Clamp(x []float32, lo, hi float32) {
	if !(lo <= hi) {
		panic(fmt.Sprintf("kernel.Clamp: lower limit %g is not at most the upper limit %g", lo, hi))
	}
	for i := 0; i < len(x); i += block {
		best.clamp(x[i:min(i+block, len(x))], lo, hi)
	}
}

// SumSquares returns the sum of x², each square exact and the sums in float64, so
// it neither overflows nor loses small elements.
func SumSquares(x []float32) float64 {
	var sum float64
	for lo := 0; lo < len(x); lo += block {
		sum += best.sumSquares(x[lo:min(lo+block, len(x))])
	}
	return sum
}

// LatticeRound rounds each element to the nearest multiple of step, ties to the
// even multiple. The result is exact. step must be a power of two from 2^-120 to
// 2^120: only then is every multiple a float32 and x/step exact. NaN and Inf stay.
func LatticeRound(dst []float32, step float32) {
	if f, e := math.Frexp(float64(step)); f != 0.5 || e < -119 || e > 121 {
		panic(fmt.Sprintf("kernel.LatticeRound: step %g is not a power of two from 2^-120 to 2^120", step))
	}
	for lo := 0; lo < len(dst); lo += block {
		best.latticeRound(dst[lo:min(lo+block, len(dst))], step, 1/step)
	}
}
