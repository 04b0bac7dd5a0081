package learn

import "math"

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

// newSparse returns nil where the matrix has stored columns, or is not wide and sparse.
func newSparse(x Matrix) *sparse {
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
// (Hestenes, Stiefel 1952), until the residual is 1e-12 of g: what is left of it Newton's next step corrects.
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
	enough := 1e-24 * dot(g, g)
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
