package kernel

import "golang.org/x/sys/cpu"

func choose() *table {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX2 && x.HasFMA:
		return avx512()
	case x.HasAVX2 && x.HasFMA:
		return avx2()
	}
	return generic()
}

// avx2 returns the assembly for AVX2 and FMA.
func avx2() *table {
	return &table{
		name:              "avx2",
		gemm:              gemmAVX2,
		leakyReLU:         leakyReLUAVX2,
		leakyReLUBackward: leakyReLUBackwardAVX2,
		tanh:              tanhAVX2,
		tanhBackward:      tanhBackwardAVX2,
		sigmoid:           sigmoidAVX2,
		sigmoidBackward:   sigmoidBackwardAVX2,
		axpy:              axpyAVX2,
		scale:             scaleAVX2,
		add:               addAVX2,
		mul:               mulAVX2,
		clamp:             clampAVX2,
		latticeRound:      latticeRoundAVX2,
		sumSquares:        sumSquaresAVX2,
		rowDots:           rowDotsAVX2,
		scaleRows:         scaleRowsAVX2,
		softmax:           softmaxAVX2,
		columnSums:        columnSumsVector,
		columnSquares:     columnSquaresVector,
		columnDots:        columnDotsVector,
		columnAdd:         columnAddVector,
		columnMulAdd:      columnMulAddVector,
		standardise:       standardiseVector,
		unstandardise:     unstandardiseVector,
		bend:              bendVector,
		adam:              adamAVX2,
		rmsProp:           rmsPropAVX2,
		momentum:          momentumAVX2,
	}
}

// avx512 has matrix products and row kernels of its own; the other kernels wait for
// memory or for divisions, which wider registers do not speed up, and stay with AVX2.
func avx512() *table {
	t := avx2()
	t.name, t.gemm = "avx512", gemmAVX512
	t.rowDots, t.scaleRows = rowDotsAVX512, scaleRowsAVX512
	return t
}

// rowDotsAVX512 computes rowDots, faster with wide registers where half of the loads are spared.
func rowDotsAVX512(dst, x, y []float32, rows, cols, ldx, ldy int) {
	if &x[0] == &y[0] && ldx == ldy {
		rowSquaresAVX512(dst, x, rows, cols, ldx)
		return
	}
	rowDotsAVX2(dst, x, y, rows, cols, ldx, ldy)
}
