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

//go:generate go run ./gen
