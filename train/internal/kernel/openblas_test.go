//go:build openblas

package kernel

import "weir/train/internal/kernel/openblas"

func addOpenBLAS(all map[string]call) {
	openblas.OneThread()
	all["openblas"] = func(s benchShape, a, b, c []float32) {
		lda, ldb := s.k, s.n
		switch s.layout {
		case nt:
			ldb = s.k
		case tn:
			lda = s.m
		}
		openblas.Sgemm(s.layout == tn, s.layout == nt, s.m, s.n, s.k, a, lda, b, ldb, c, s.n)
	}
}
