package learn

import (
	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
	"weir/train/parallel"
)

// gramParts is the number of partial sums of a Gram matrix. It is fixed, so that
// the bits do not depend on the number of workers.
const gramParts = 8

// gram is Z' diag(w) Z with Z the columns of x and, last, a column of ones.
// Weights are not negative; nil is ones.
func gram(x Matrix, w []float64, workers int) *mat.SymDense {
	if len(x.Blocks) > 0 {
		return gramOneHot(x, w, workers)
	}
	return gramStored(x, w, workers)
}

func gramStored(x Matrix, w []float64, workers int) *mat.SymDense {
	parts := make([]*mat.SymDense, gramParts)
	parallel.Do(workers, gramParts, func(_, k int) {
		parts[k] = gramRows(x, w, k*x.Rows/gramParts, (k+1)*x.Rows/gramParts)
	})
	for _, p := range parts[1:] {
		parts[0].AddSym(parts[0], p)
	}
	return parts[0]
}

func gramRows(x Matrix, w []float64, lo, hi int) *mat.SymDense {
	p := len(x.Cols) + 1
	sum := mat.NewSymDense(p, nil)
	wide := min(chunk, hi-lo) // of few rows, as resamples have, a block holds no more
	block, roots := make([]float64, p*wide), make([]float64, wide)
	for ; lo < hi; lo += chunk {
		n := min(chunk, hi-lo)
		for i := range n {
			roots[i] = 1
			if w != nil {
				roots[i] = sqrt(w[lo+i])
			}
		}
		for j, c := range x.Cols {
			to := block[j*wide : j*wide+n]
			for i, v := range c[lo : lo+n] {
				to[i] = v * roots[i]
			}
		}
		copy(block[(p-1)*wide:], roots[:n])
		addProducts(sum, block, n, wide)
	}
	return sum
}

// addProducts adds the dot products of each two rows of a block, n long and so far apart.
func addProducts(sum *mat.SymDense, block []float64, n, apart int) {
	p := sum.SymmetricDim()
	for i := range p {
		a, to := block[i*apart:][:n], sum.RawSymmetric().Data[i*p:][:p]
		for j := i; j < p; j++ {
			to[j] += bitmath.Dot(a, block[j*apart:][:n])
		}
	}
}
