package learn

import (
	"math"
	"slices"
)

// sparse is a wide matrix of indicators by the rows that have each: with it a product costs the ones of a table,
// where a Gram matrix costs its rows times the square of its columns.
type sparse struct {
	n    int
	rows [][]int32 // of each column
}

// Wide enough, and with few enough ones, that Newton's steps are found by conjugate gradients.
const (
	leastWide  = 256
	sparseness = 16 // cells for each one, at least
)

// Listed is m with the rows of each indicator listed, where it is wide and sparse: learners of what Without leaves of it
// share the lists.
func (m Matrix) Listed() Matrix {
	s := newSparse(m)
	if s == nil {
		return m
	}
	m.Blocks = slices.Clone(m.Blocks)
	for k, b := range m.Blocks {
		m.Blocks[k].rows = s.rows[b.First : b.First+b.Width]
	}
	return m
}

// lists are the rows of a matrix that is listed; nil where it is not.
func (m Matrix) lists() *sparse {
	s := &sparse{m.Rows, make([][]int32, 0, len(m.Cols))}
	for _, b := range m.Blocks {
		s.rows = append(s.rows, b.rows...)
	}
	if len(m.Cols) == 0 || len(s.rows) < len(m.Cols) {
		return nil
	}
	return s
}

// newSparse returns nil where the matrix has stored columns, or is not wide and sparse.
func newSparse(x Matrix) *sparse {
	if s := x.lists(); s != nil {
		return s
	}
	if len(x.Cols) < leastWide || x.Rows == 0 {
		return nil
	}
	s, ones, width := &sparse{x.Rows, make([][]int32, len(x.Cols))}, 0, 0
	for _, b := range x.Blocks {
		width += b.Width
		for i, k := range b.Codes {
			if uint32(k) < uint32(b.Width) {
				s.rows[b.First+int(k)] = append(s.rows[b.First+int(k)], int32(i))
				ones++
			}
		}
	}
	if width < len(x.Cols) || ones > x.Rows*len(x.Cols)/sparseness {
		return nil
	}
	return s
}

// times is the matrix, with a column of ones behind, times v.
func (s *sparse) times(v []float64) []float64 {
	z := make([]float64, s.n)
	for i := range z {
		z[i] = v[len(s.rows)]
	}
	for j, rows := range s.rows {
		if v[j] == 0 {
			continue
		}
		for _, i := range rows {
			z[i] += v[j]
		}
	}
	return z
}

// dots adds the products of each column with r, but of the column of ones.
func (s *sparse) dots(r, to []float64) {
	for j, rows := range s.rows {
		sum := 0.0
		for _, i := range rows {
			sum += r[i]
		}
		to[j] += sum
	}
}

// conjugate solves (Z' diag(w) Z + 1) d = g, 1 on penalised places, by conjugate gradients with the diagonal before
// (Hestenes, Stiefel 1952). A step far from the optimum need not be exact: it is solved to the share of the first gradient that is left
// (Eisenstat, Walker 1996), a tenth at most, so that steps still converge quadratically; Newton's next step corrects the rest.
func (b *binary) conjugate(w, g []float64) []float64 {
	diagonal, d := make([]float64, len(g)), make([]float64, len(g))
	b.sparse.dots(w, diagonal)
	for _, v := range w {
		diagonal[b.p] += v
	}
	for j := range diagonal {
		if b.penalised(j) {
			diagonal[j]++
		}
	}
	r := append([]float64(nil), g...)
	z := divided(r, diagonal)
	p, before := append([]float64(nil), z...), dot(r, z)
	enough := b.share(g) * dot(g, g)
	for range 10 * len(g) {
		if !(dot(r, r) > enough) {
			break
		}
		hp := b.curved(w, p)
		t := before / dot(p, hp)
		axpy(t, p, d)
		axpy(-t, hp, r)
		z = divided(r, diagonal)
		now := dot(r, z)
		for j := range p {
			p[j] = z[j] + float64(now/before*p[j])
		}
		before = now
	}
	return d
}

// share is the square of the share of a gradient to which a step is solved.
func (b *binary) share(g []float64) float64 {
	left := dot(g, g)
	if b.begun == 0 {
		b.begun = left
	}
	return min(1e-2, max(1e-24, left/b.begun))
}

// curved is (Z' diag(w) Z + 1) v.
func (b *binary) curved(w, v []float64) []float64 {
	u, out := b.sparse.times(v), make([]float64, len(v))
	for i := range u {
		u[i] = float64(u[i] * w[i])
		out[b.p] += u[i]
	}
	b.sparse.dots(u, out)
	for j := range out {
		if b.penalised(j) {
			out[j] += v[j]
		}
	}
	return out
}

func divided(a, by []float64) []float64 {
	out := make([]float64, len(a))
	for j, v := range a {
		out[j] = v / math.Max(by[j], 1e-300)
	}
	return out
}
