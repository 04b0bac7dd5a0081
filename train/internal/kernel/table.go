package kernel

// table is one implementation of every kernel. The functions trust their
// arguments: the exported functions have checked them.
type table struct {
	name string
	gemm func(j product)

	leakyReLU         func(dst, x []float32, slope float32)
	leakyReLUBackward func(dst, grad, x []float32, slope float32)
	tanh              func(dst, x []float32)
	tanhBackward      func(dst, grad, out []float32)
	sigmoid           func(dst, x []float32)
	sigmoidBackward   func(dst, grad, out []float32)
	axpy              func(alpha float32, x, y []float32)
	scale             func(alpha float32, x []float32)
	add               func(dst, x, y []float32)
	mul               func(dst, x, y []float32)
	clamp             func(x []float32, lo, hi float32)
	latticeRound      func(dst []float32, step, inverse float32)
	sumSquares        func(x []float32) float64

	rowDots   func(dst, x, y []float32, rows, cols, ldx, ldy int)
	scaleRows func(dst, x []float32, rows, cols, ldd, ldx int, s []float32)
	softmax   func(dst, x []float32, rows, cols, ldd, ldx int)

	adam     func(w, m, v, g, noise []float32, c adamCoefficients)
	rmsProp  func(w, v, g, noise []float32, c rmsPropCoefficients)
	momentum func(w, m, g, noise []float32, c momentumCoefficients)
}

// best is the fastest implementation that this processor runs, chosen once.
// GODEBUG=cpu.avx512f=off and GODEBUG=cpu.avx2=off choose lower ones.
var best = choose()

// generic is plain Go, for every processor.
func generic() *table {
	return &table{
		name:              "generic",
		gemm:              gemmGeneric,
		leakyReLU:         leakyReLUGeneric,
		leakyReLUBackward: leakyReLUBackwardGeneric,
		tanh:              tanhGeneric,
		tanhBackward:      tanhBackwardGeneric,
		sigmoid:           sigmoidGeneric,
		sigmoidBackward:   sigmoidBackwardGeneric,
		axpy:              axpyGeneric,
		scale:             scaleGeneric,
		add:               addGeneric,
		mul:               mulGeneric,
		clamp:             clampGeneric,
		latticeRound:      latticeRoundGeneric,
		sumSquares:        sumSquaresGeneric,
		rowDots:           rowDotsGeneric,
		scaleRows:         scaleRowsGeneric,
		softmax:           softmaxGeneric,
		adam:              adamGeneric,
		rmsProp:           rmsPropGeneric,
		momentum:          momentumGeneric,
	}
}
