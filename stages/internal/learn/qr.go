package learn

import (
	"gonum.org/v1/gonum/mat"

	"weir/train/parallel"
)

var errSVD = &NotEstimable{-1, "the singular value decomposition did not converge"}

// qrRows is the number of rows that are reduced at once.
const qrRows = 4096

// triangle is the upper triangular R of the QR decomposition of the columns,
// square. It is computed by blocks of rows (R of R's: Demmel et al. 2012), in
// memory of one block; the blocks do not depend on workers.
func triangle(cols [][]float64, workers int) *mat.Dense {
	p, n := len(cols), len(cols[0])
	step := max(qrRows, 4*p)
	blocks := (n + step - 1) / step
	parts := make([]*mat.Dense, blocks)
	parallel.Do(workers, blocks, func(_, b int) {
		lo, hi := b*step, min((b+1)*step, n)
		parts[b] = reduce(max(hi-lo, p), p, func(a *mat.Dense) {
			for j, c := range cols {
				for i, v := range c[lo:hi] {
					a.Set(i, j, v)
				}
			}
		})
	})
	return stack(parts, p)
}

// reduce is the triangle of a matrix of rows >= p that fill writes.
func reduce(rows, p int, fill func(*mat.Dense)) *mat.Dense {
	a := mat.NewDense(rows, p, nil)
	fill(a)
	var qr mat.QR
	qr.Factorize(a)
	var r mat.Dense
	qr.RTo(&r)
	return mat.DenseCopyOf(r.Slice(0, p, 0, p))
}

func stack(parts []*mat.Dense, p int) *mat.Dense {
	if len(parts) == 0 {
		return mat.NewDense(p, p, nil)
	}
	r := parts[0]
	for _, next := range parts[1:] {
		top := r
		r = reduce(2*p, p, func(a *mat.Dense) {
			a.Slice(0, p, 0, p).(*mat.Dense).Copy(top)
			a.Slice(p, 2*p, 0, p).(*mat.Dense).Copy(next)
		})
	}
	return r
}
