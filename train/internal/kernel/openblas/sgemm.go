//go:build openblas

// Package openblas calls OpenBLAS on one thread, for comparison in a benchmark.
// It needs cgo and libopenblas-dev and is built with -tags openblas only.
package openblas

// #cgo LDFLAGS: -lopenblas
// #include <cblas.h>
// void openblas_set_num_threads(int);
import "C"

// Sgemm computes C = A·B with A and B transposed on request, row-major and dense.
func Sgemm(ta, tb bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	C.cblas_sgemm(C.CblasRowMajor, trans(ta), trans(tb), C.blasint(m), C.blasint(n), C.blasint(k),
		1, (*C.float)(&a[0]), C.blasint(lda), (*C.float)(&b[0]), C.blasint(ldb), 0, (*C.float)(&c[0]), C.blasint(ldc))
}

// OneThread keeps OpenBLAS to one thread.
func OneThread() { C.openblas_set_num_threads(1) }

func trans(t bool) uint32 {
	if t {
		return C.CblasTrans
	}
	return C.CblasNoTrans
}
