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

	columnSums    func(sum []float64, x []float32, rows, ld int)
	columnSquares func(sum, mean []float64, x []float32, rows, ld int)
	columnDots    func(sum, dot []float64, x, y []float32, rows, ld int)
	columnAdd     func(sum, x []float32, rows, ld int)
	columnMulAdd  func(sum, x, y []float32, rows, ld int)
	standardise   func(y, unit, x []float32, rows, ld int, mean, inverse []float64, gain, offset []float32)
	unstandardise func(dst, x, unit []float32, rows, ld int, less, along, scale []float64)
	bend          func(dx, u, a, t []float32, rows, ld int, b Bending)

	adam     func(w, m, v, g, noise []float32, c adamCoefficients)
	rmsProp  func(w, v, g, noise []float32, c rmsPropCoefficients)
	momentum func(w, m, g, noise []float32, c momentumCoefficients)
}

// best is the fastest implementation that this processor runs, chosen once.
// GODEBUG=cpu.avx512f=off and GODEBUG=cpu.avx2=off choose lower ones.
var best = choose()

// generic returns the table of plain Go, for every processor.
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
		columnSums:        columnSumsGeneric,
		columnSquares:     columnSquaresGeneric,
		columnDots:        columnDotsGeneric,
		columnAdd:         columnAddGeneric,
		columnMulAdd:      columnMulAddGeneric,
		standardise:       standardiseGeneric,
		unstandardise:     unstandardiseGeneric,
		bend:              bendGeneric,
		adam:              adamGeneric,
		rmsProp:           rmsPropGeneric,
		momentum:          momentumGeneric,
	}
}
