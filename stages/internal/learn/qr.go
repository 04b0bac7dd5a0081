package learn

import (
	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
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
		rows := make([][]float64, p)
		for j, c := range cols {
			rows[j] = make([]float64, max(hi-lo, p))
			copy(rows[j], c[lo:hi])
		}
		parts[b] = reduce(rows)
	})
	return stack(parts, p)
}

// reduce is the triangle of columns, which it uses up.
func reduce(columns [][]float64) *mat.Dense {
	bitmath.Triangle(columns)
	r := mat.NewDense(len(columns), len(columns), nil)
	for j, c := range columns {
		for i, v := range c[:j+1] {
			r.Set(i, j, v)
		}
	}
	return r
}

func stack(parts []*mat.Dense, p int) *mat.Dense {
	if len(parts) == 0 {
		return mat.NewDense(p, p, nil)
	}
	r := parts[0]
	for _, next := range parts[1:] {
		both := make([][]float64, p)
		for j := range both {
			both[j] = append(mat.Col(nil, j, r), mat.Col(nil, j, next)...)
		}
		r = reduce(both)
	}
	return r
}

// singular is the singular value decomposition U S V' of the first p columns of a triangle:
// the columns of U S, the singular values and the columns of V.
func singular(t *mat.Dense, p int) (scaled [][]float64, values []float64, right [][]float64, err error) {
	scaled = make([][]float64, p)
	for j := range scaled {
		scaled[j] = mat.Col(nil, j, t)[:p]
	}
	values, right, ok := bitmath.Singular(scaled)
	if !ok {
		return nil, nil, nil, errSVD
	}
	return scaled, values, right, nil
}
