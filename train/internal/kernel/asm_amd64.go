package kernel

// lanes holds 16 set words and 16 clear ones: from lanes[16-r] on, the first r lanes
// are set. It is only read.
var lanes = [32]int32{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// panel is one call of a matrix routine: all m rows of C by one panel of columns.
// Strides are in bytes. The routine counts m down.
type panel struct {
	a, b, c    *float32
	aRow, aCol int
	ldb, ldc   int
	m, k       int
	accumulate int    // 0: the chains start at zero; 1: at C
	mask       *int32 // AVX2: lanes to leave alone, or nil; for panelMaskedAVX2 the lanes to work on
	low, high  uint16 // panelMaskedAVX512: the columns to work on, 16 a word
}

//go:noescape
func panel16AVX2(p *panel)

//go:noescape
func panel8AVX2(p *panel)

//go:noescape
func panelMaskedAVX2(p *panel)

//go:noescape
func panel32AVX512(p *panel)

//go:noescape
func panelMaskedAVX512(p *panel)

// transposeAVX2 turns 8 rows of src into 8 columns of dst, 8·blocks long. Strides
// are in bytes.
//
//go:noescape
func transposeAVX2(dst *float32, ldd int, src *float32, lds, blocks int)

//go:noescape
func leakyReLUAVX2(dst, x []float32, slope float32)

//go:noescape
func leakyReLUBackwardAVX2(dst, grad, x []float32, slope float32)

//go:noescape
func tanhAVX2(dst, x []float32)

//go:noescape
func tanhBackwardAVX2(dst, grad, out []float32)

//go:noescape
func sigmoidAVX2(dst, x []float32)

//go:noescape
func sigmoidBackwardAVX2(dst, grad, out []float32)

//go:noescape
func axpyAVX2(alpha float32, x, y []float32)

//go:noescape
func scaleAVX2(alpha float32, x []float32)

//go:noescape
func addAVX2(dst, x, y []float32)

//go:noescape
func mulAVX2(dst, x, y []float32)

//go:noescape
func clampAVX2(x []float32, lo, hi float32)

//go:noescape
func latticeRoundAVX2(dst []float32, step, inverse float32)

//go:noescape
func sumSquaresAVX2(x []float32) float64

//go:noescape
func rowDotsAVX2(dst, x, y []float32, rows, cols, ldx, ldy int)

//go:noescape
func scaleRowsAVX2(dst, x []float32, rows, cols, ldd, ldx int, s []float32)

//go:noescape
func rowSquaresAVX512(dst, x []float32, rows, cols, ldx int)

//go:noescape
func scaleRowsAVX512(dst, x []float32, rows, cols, ldd, ldx int, s []float32)

//go:noescape
func softmaxAVX2(dst, x []float32, rows, cols, ldd, ldx int)

//go:noescape
func adamAVX2(w, m, v, g, noise []float32, c adamCoefficients)

//go:noescape
func rmsPropAVX2(w, v, g, noise []float32, c rmsPropCoefficients)

//go:noescape
func momentumAVX2(w, m, g, noise []float32, c momentumCoefficients)

//go:noescape
func columnSumsAVX2(c *columns)

//go:noescape
func columnSquaresAVX2(c *columns)

//go:noescape
func columnDotsAVX2(c *columns)

//go:noescape
func columnAddAVX2(c *columns)

//go:noescape
func columnMulAddAVX2(c *columns)

//go:noescape
func standardiseAVX2(c *columns)

//go:noescape
func unstandardiseAVX2(c *columns)

//go:noescape
func bendAVX2(c *columns)
