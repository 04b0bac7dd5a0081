package association

import (
	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
	"weir/stages/internal/learn"
)

// Scatter gathers the mean and the covariance of rows that come in blocks. The
// first block's mean is taken off all rows first, so that no digits are lost to
// a mean far from zero.
type Scatter struct {
	n      float64
	origin []float64 // nil until the first block
	sums   []float64 // of the rows minus origin
	cross  *mat.SymDense
}

// NewScatter is empty, for rows of the given width.
func NewScatter(width int) *Scatter {
	return &Scatter{sums: make([]float64, width), cross: mat.NewSymDense(max(width, 1), nil)}
}

// Add takes the rows of a block.
func (s *Scatter) Add(m learn.Matrix) {
	if m.Rows == 0 || len(m.Cols) == 0 {
		return
	}
	m = m.Dense()
	if s.origin == nil {
		s.origin = make([]float64, len(m.Cols))
		for j, c := range m.Cols {
			s.origin[j] = sum(c) / float64(m.Rows)
		}
	}
	x := learn.NewMatrix(m.Rows, len(m.Cols))
	for j, c := range m.Cols {
		row := x.Cols[j]
		for i, v := range c {
			row[i] = v - s.origin[j]
		}
		s.sums[j] += sum(row)
	}
	for i, a := range x.Cols {
		for j, b := range x.Cols[i:] {
			s.cross.SetSym(i, i+j, s.cross.At(i, i+j)+bitmath.Dot(a, b))
		}
	}
	s.n += float64(m.Rows)
}

// Rows is the number of rows so far.
func (s *Scatter) Rows() int { return int(s.n) }

// Mean is the mean row, nil without rows.
func (s *Scatter) Mean() []float64 {
	if s.n == 0 {
		return nil
	}
	m := make([]float64, len(s.sums))
	for j, v := range s.sums {
		m[j] = s.origin[j] + v/s.n
	}
	return m
}

// Covariance divides by n-1; it needs two rows and one column.
func (s *Scatter) Covariance() *mat.SymDense {
	k := len(s.sums)
	c := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			c.SetSym(i, j, (s.cross.At(i, j)-s.sums[i]*s.sums[j]/s.n)/(s.n-1))
		}
	}
	return c
}
