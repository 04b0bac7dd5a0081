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

// LeakyReLU sets dst = x where x > 0 and slope*x elsewhere; slope 0 is ReLU.
// NaN stays NaN (and with slope 0, -Inf becomes NaN, so that it is not hidden).
func LeakyReLU(dst, x []float32, slope float32) {
	checkSame("LeakyReLU", len(dst), len(x))
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		best.leakyReLU(dst[lo:hi], x[lo:hi], slope)
	}
}

// LeakyReLUBackward sets dst = grad where x > 0 and slope*grad elsewhere. x is the
// input of LeakyReLU or, with slope >= 0, its output: their signs agree.
func LeakyReLUBackward(dst, grad, x []float32, slope float32) {
	checkSame("LeakyReLUBackward", len(dst), len(grad), len(x))
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		best.leakyReLUBackward(dst[lo:hi], grad[lo:hi], x[lo:hi], slope)
	}
}

// Tanh sets dst = tanh(x), within 2 units in the last place.
func Tanh(dst, x []float32) {
	checkSame("Tanh", len(dst), len(x))
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		best.tanh(dst[lo:hi], x[lo:hi])
	}
}

// TanhBackward sets dst = grad*(1-out²), where out is the output of Tanh.
func TanhBackward(dst, grad, out []float32) {
	checkSame("TanhBackward", len(dst), len(grad), len(out))
	for lo := 0; lo < len(out); lo += block {
		hi := min(lo+block, len(out))
		best.tanhBackward(dst[lo:hi], grad[lo:hi], out[lo:hi])
	}
}

// Sigmoid sets dst = 1/(1+exp(-x)), within 3 units in the last place for x >= -87
// and within 1e-37 below.
func Sigmoid(dst, x []float32) {
	checkSame("Sigmoid", len(dst), len(x))
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		best.sigmoid(dst[lo:hi], x[lo:hi])
	}
}

// SigmoidBackward sets dst = grad*out*(1-out), where out is the output of Sigmoid.
func SigmoidBackward(dst, grad, out []float32) {
	checkSame("SigmoidBackward", len(dst), len(grad), len(out))
	for lo := 0; lo < len(out); lo += block {
		hi := min(lo+block, len(out))
		best.sigmoidBackward(dst[lo:hi], grad[lo:hi], out[lo:hi])
	}
}

// Softmax sets each row of dst to the softmax of the same row of x, both rows×cols.
// A block of columns inside a wider matrix is a slice that starts at its first
// column, with the stride of the matrix. NaN, or +Inf, in a row makes the row NaN.
func Softmax(dst, x []float32, rows, cols, ldd, ldx int) {
	checkMatrix("Softmax", "dst", len(dst), rows, cols, ldd)
	checkMatrix("Softmax", "x", len(x), rows, cols, ldx)
	if cols == 0 {
		return
	}
	step := rowsPerBlock(cols)
	for lo := 0; lo < rows; lo += step {
		best.softmax(dst[lo*ldd:], x[lo*ldx:], min(step, rows-lo), cols, ldd, ldx)
	}
}
