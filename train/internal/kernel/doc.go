// Package kernel holds the arithmetic of the training core: single-threaded
// float32 matrix products, element-wise kernels and fused optimiser updates.
//
// Matrices are row-major; the row stride (ld...) is in elements. Every function
// checks its slices and panics with the function's name when they are too short:
// that is an error of the caller's program, never of the data. NaN and Inf in the
// data never panic and are never hidden: 0*NaN is NaN, as in IEEE arithmetic.
// An output may be the same slice as an input of an element-wise function, but
// may not overlap it in part; the output of a matrix product is a slice of its own.
//
// Bits. Each element of a matrix product is one chain of fused multiply-adds in the
// order of k, whatever the tile. All other kernels use no fused operations and one
// fixed order of summation. So every level and every processor gives the same bits.
//
// A call into assembly cannot be preempted; work is handed over in blocks of
// at most about 0.3 ms.
package kernel

import (
	"fmt"
)

//go:generate go run ./gen

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

// block is the most elements handed to one call of an element-wise kernel, so
// that a call stays far below 0.3 ms and the scheduler can preempt between calls.
const block = 1 << 15

// checkSame panics unless every slice has the length of the first.
func checkSame(name string, n int, others ...int) {
	for _, o := range others {
		if o != n {
			panic(fmt.Sprintf("kernel.%s: slice lengths differ: %d and %d", name, n, o))
		}
	}
}

// checkMatrix panics unless x of length have holds rows×cols with stride ld.
func checkMatrix(name, arg string, have, rows, cols, ld int) {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("kernel.%s: %s: negative shape %d×%d", name, arg, rows, cols))
	}
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols {
		panic(fmt.Sprintf("kernel.%s: %s: row stride %d is below %d columns", name, arg, ld, cols))
	}
	if have < cols || (have-cols)/ld < rows-1 {
		panic(fmt.Sprintf("kernel.%s: %s: %d elements do not hold %d×%d with row stride %d", name, arg, have, rows, cols, ld))
	}
}

// checkLen panics unless a slice holds at least want elements.
func checkLen(name, arg string, have, want int) {
	if have < want {
		panic(fmt.Sprintf("kernel.%s: %s: %d elements, need %d", name, arg, have, want))
	}
}

// rowsPerBlock returns the number of rows of cols elements that make up one block.
func rowsPerBlock(cols int) int {
	return max(1, block/max(1, cols))
}
