package kernel

// RowDots sets dst[i] to the dot product of row i of x and row i of y, both
// rows×cols. The sum runs in 16 lanes of float32: its relative error for terms of
// one sign is at most (cols/16+6)*2^-24.
func RowDots(dst, x, y []float32, rows, cols, ldx, ldy int) {
	checkMatrix("RowDots", "x", len(x), rows, cols, ldx)
	checkMatrix("RowDots", "y", len(y), rows, cols, ldy)
	checkLen("RowDots", "dst", len(dst), rows)
	if cols == 0 {
		clear(dst[:rows])
		return
	}
	step := rowsPerBlock(cols)
	for lo := 0; lo < rows; lo += step {
		best.rowDots(dst[lo:], x[lo*ldx:], y[lo*ldy:], min(step, rows-lo), cols, ldx, ldy)
	}
}

// RowSquaredNorms sets dst[i] to the squared 2-norm of row i of x (rows×cols),
// with the accuracy of RowDots. It overflows to +Inf from a norm of about 1.8e19.
func RowSquaredNorms(dst, x []float32, rows, cols, ld int) {
	RowDots(dst, x, x, rows, cols, ld, ld)
}

// ScaleRows multiplies row i of x (rows×cols) by s[i] in place; a weight of zero
// keeps NaN.
func ScaleRows(x []float32, rows, cols, ld int, s []float32) {
	checkMatrix("ScaleRows", "x", len(x), rows, cols, ld)
	checkLen("ScaleRows", "s", len(s), rows)
	if cols == 0 {
		return
	}
	step := rowsPerBlock(cols)
	for lo := 0; lo < rows; lo += step {
		best.scaleRows(x[lo*ld:], x[lo*ld:], min(step, rows-lo), cols, ld, ld, s[lo:])
	}
}

// ColSums sets dst[j] to the sum of column j of x (rows×cols), in the order of rows.
func ColSums(dst, x []float32, rows, cols, ld int) {
	checkMatrix("ColSums", "x", len(x), rows, cols, ld)
	checkLen("ColSums", "dst", len(dst), cols)
	if cols == 0 {
		return
	}
	clear(dst[:cols])
	step := rowsPerBlock(cols)
	for lo := 0; lo < rows; lo += step {
		best.colSums(dst, x[lo*ld:], min(step, rows-lo), cols, ld)
	}
}

// NonFiniteRows sets bad[i] where row i of x (rows×cols) holds a NaN or an Inf. It
// clears nothing, so that several matrices can mark one list.
func NonFiniteRows(bad []bool, x []float32, rows, cols, ld int) {
	checkMatrix("NonFiniteRows", "x", len(x), rows, cols, ld)
	checkLen("NonFiniteRows", "bad", len(bad), rows)
	if cols == 0 {
		return
	}
	step := rowsPerBlock(cols)
	for lo := 0; lo < rows; lo += step {
		best.nonFiniteRows(bad[lo:], x[lo*ld:], min(step, rows-lo), cols, ld)
	}
}
