package kernel

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
