package net

// Matrix is Rows×Cols float32, row-major, with LD elements from row to row. In
// this package LD is Cols+1: activations keep a one in the extra column,
// gradients a zero.
type Matrix struct {
	Data           []float32
	Rows, Cols, LD int
}

// NewMatrix returns a zero matrix with its extra column.
func NewMatrix(rows, cols int) Matrix {
	return Matrix{Data: make([]float32, rows*(cols+1)), Rows: rows, Cols: cols, LD: cols + 1}
}

// Row returns row i without the extra column.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.LD : i*m.LD+m.Cols : i*m.LD+m.Cols] }

// Slice returns rows lo to hi-1; they share storage with m.
func (m Matrix) Slice(lo, hi int) Matrix {
	return Matrix{Data: m.Data[lo*m.LD : hi*m.LD], Rows: hi - lo, Cols: m.Cols, LD: m.LD}
}

// CopyFrom copies the columns of x, which has the shape of m; the extra column
// of m stays.
func (m Matrix) CopyFrom(x Matrix) {
	for i := range m.Rows {
		copy(m.Row(i), x.Row(i))
	}
}

// all returns every element in use, the extra column included.
func (m Matrix) all() []float32 { return m.Data[:m.Rows*m.LD] }

// setExtra writes v into the extra column.
func (m Matrix) setExtra(v float32) {
	for p := m.Cols; p < m.Rows*m.LD; p += m.LD {
		m.Data[p] = v
	}
}

// same reports whether two matrices start at the same element.
func (m Matrix) same(x Matrix) bool {
	return len(m.Data) > 0 && len(x.Data) > 0 && &m.Data[0] == &x.Data[0]
}
