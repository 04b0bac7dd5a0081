package kernel

// The kernels of this file go down the columns of row-major matrices of one shape and one row stride ld, as the norms
// over a batch do. What is known or summed of a column is float64, each sum in the order of the rows. There are as many
// columns as the first vector is long.

// ColumnSums adds the rows of x to sum.
func ColumnSums(sum []float64, x []float32, rows, ld int) {
	checkMatrix("ColumnSums", "x", len(x), rows, len(sum), ld)
	down(rows, len(sum), func(lo, n int) { best.columnSums(sum, x[lo*ld:], n, ld) })
}

// ColumnSquares adds (x-mean)² of each row to sum.
func ColumnSquares(sum, mean []float64, x []float32, rows, ld int) {
	checkSame("ColumnSquares", len(sum), len(mean))
	checkMatrix("ColumnSquares", "x", len(x), rows, len(sum), ld)
	down(rows, len(sum), func(lo, n int) { best.columnSquares(sum, mean, x[lo*ld:], n, ld) })
}

// ColumnDots adds the rows of x to sum, and x*y of each row to dot.
func ColumnDots(sum, dot []float64, x, y []float32, rows, ld int) {
	checkSame("ColumnDots", len(sum), len(dot))
	checkMatrices("ColumnDots", rows, len(sum), ld, x, y)
	down(rows, len(sum), func(lo, n int) { best.columnDots(sum, dot, x[lo*ld:], y[lo*ld:], n, ld) })
}

// ColumnAdd adds the rows of x to sum, in float32.
func ColumnAdd(sum, x []float32, rows, ld int) {
	checkMatrix("ColumnAdd", "x", len(x), rows, len(sum), ld)
	down(rows, len(sum), func(lo, n int) { best.columnAdd(sum, x[lo*ld:], n, ld) })
}

// ColumnMulAdd adds x*y of each row to sum, in float32.
func ColumnMulAdd(sum, x, y []float32, rows, ld int) {
	checkMatrices("ColumnMulAdd", rows, len(sum), ld, x, y)
	down(rows, len(sum), func(lo, n int) { best.columnMulAdd(sum, x[lo*ld:], y[lo*ld:], n, ld) })
}

// Standardise sets unit to (x-mean)*inverse, rounded to float32, and y to unit*gain+offset.
func Standardise(y, unit, x []float32, rows, ld int, mean, inverse []float64, gain, offset []float32) {
	checkSame("Standardise", len(mean), len(inverse), len(gain), len(offset))
	checkMatrices("Standardise", rows, len(mean), ld, y, unit, x)
	down(rows, len(mean), func(lo, n int) {
		best.standardise(y[lo*ld:], unit[lo*ld:], x[lo*ld:], n, ld, mean, inverse, gain, offset)
	})
}

// Unstandardise sets dst to (x - less - unit*along)*scale, rounded to float32: the gradient and the tangent of
// Standardise, given the right vectors. dst may be x or unit.
func Unstandardise(dst, x, unit []float32, rows, ld int, less, along, scale []float64) {
	checkSame("Unstandardise", len(less), len(along), len(scale))
	checkMatrices("Unstandardise", rows, len(less), ld, dst, x, unit)
	down(rows, len(less), func(lo, n int) {
		best.unstandardise(dst[lo*ld:], x[lo*ld:], unit[lo*ld:], n, ld, less, along, scale)
	})
}

// Bending are the vectors of Bend, by columns.
type Bending struct{ Unit, Along, MeanA, AlongA, MeanT, Gain, Inverse []float64 }

// Bend takes (Unit*u + Along*(a-MeanA) + AlongA*(t-MeanT))*Gain*Inverse², rounded to float32, from dx.
func Bend(dx, u, a, t []float32, rows, ld int, v Bending) {
	checkSame("Bend", len(v.Unit), len(v.Along), len(v.MeanA), len(v.AlongA), len(v.MeanT), len(v.Gain), len(v.Inverse))
	checkMatrices("Bend", rows, len(v.Unit), ld, dx, u, a, t)
	down(rows, len(v.Unit), func(lo, n int) { best.bend(dx[lo*ld:], u[lo*ld:], a[lo*ld:], t[lo*ld:], n, ld, v) })
}

// down calls f for blocks of rows, each the first row and how many.
func down(rows, cols int, f func(lo, n int)) {
	if cols == 0 {
		return
	}
	step := rowsPerBlock(cols)
	for lo := 0; lo < rows; lo += step {
		f(lo, min(step, rows-lo))
	}
}

// checkMatrices panics unless each holds rows×cols with stride ld.
func checkMatrices(name string, rows, cols, ld int, list ...[]float32) {
	for i, x := range list {
		checkMatrix(name, [...]string{"matrix 1", "matrix 2", "matrix 3", "matrix 4"}[i], len(x), rows, cols, ld)
	}
}
