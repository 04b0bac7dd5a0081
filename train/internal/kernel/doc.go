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
// Bits. Each element of a matrix product is one chain of fused multiply-adds in
// the order of k, whatever the tile, so AVX2 and AVX-512 give the same bits. The
// generic code rounds the product and the sum apart (a fused float32 multiply-add
// has no fast form in Go), so its products may differ in the last bits. All other
// kernels use no fused operations and one fixed order of summation, so they give
// the same bits at every level, generic included.
//
// A call into assembly cannot be preempted; work is handed over in blocks of
// at most about 0.3 ms.
package kernel

//go:generate go run ./gen
