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
