package kernel

import "fmt"

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

// rowsPerBlock is the number of rows of cols elements that make up one block.
func rowsPerBlock(cols int) int {
	return max(1, block/max(1, cols))
}
