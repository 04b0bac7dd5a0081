package learn

import (
	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
)

// cholesky is the lower triangle L with LL' = h, row by row, or nil where rounding
// leaves h not positive definite.
func cholesky(h *mat.SymDense) [][]float64 {
	l := make([][]float64, h.SymmetricDim())
	for i := range l {
		l[i] = make([]float64, i+1)
		for j := range l[i] {
			v := h.At(i, j) - bitmath.Dot(l[i][:j], l[j][:j])
			switch {
			case j < i:
				l[i][j] = v / l[j][j]
			case !(v > 0):
				return nil
			default:
				l[i][i] = sqrt(v)
			}
		}
	}
	return l
}

// substitute is the solution x of LL'x = g.
func substitute(l [][]float64, g []float64) []float64 {
	x := make([]float64, len(g))
	for i, row := range l {
		x[i] = (g[i] - bitmath.Dot(row[:i], x[:i])) / row[i]
	}
	for i := len(l) - 1; i >= 0; i-- {
		x[i] /= l[i][i]
		bitmath.Axpy(-x[i], l[i][:i], x[:i])
	}
	return x
}
