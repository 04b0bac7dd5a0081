// Package learn holds the classical learners that judge synthetic tables. Each means
// what the function of scikit-learn 1.2.1 (or statsmodels 0.13.5) means that its
// comment names, with the settings that it has by default; how it is computed is ours, from the
// papers that comments cite. Randomness comes from the caller; no result depends on the
// number of workers. Scores of predictions are defined as sklearn.metrics 1.2.1 defines them unless
// a comment says otherwise; one that is not defined for its input is NaN.
package learn

import (
	"math"
	"slices"
)

// Matrix is a design matrix by column: Cols[j][i] is feature j of row i. Values
// are finite. One-hot columns may stand in Blocks instead, by ascending First; their
// places in Cols are nil, so that len(Cols) is the number of features either way.
type Matrix struct {
	Rows   int
	Cols   [][]float64
	Blocks []Block
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) Matrix {
	m, all := Matrix{Rows: rows, Cols: make([][]float64, cols)}, make([]float64, rows*cols)
	for j := range m.Cols {
		m.Cols[j] = all[j*rows : (j+1)*rows : (j+1)*rows]
	}
	return m
}

// Row copies row i into dst, which has a place for each column.
func (m Matrix) Row(i int, dst []float64) []float64 {
	if len(m.Blocks) > 0 {
		m.rows(i, i+1, len(m.Cols), dst)
		return dst
	}
	for j, c := range m.Cols {
		dst[j] = c[i]
	}
	return dst
}

// Take returns the matrix of the rows at the given places, in that order.
func (m Matrix) Take(places []int) Matrix {
	t := Matrix{Rows: len(places), Cols: make([][]float64, len(m.Cols))}
	m.each(func(j int, c []float64) {
		t.Cols[j] = make([]float64, len(places))
		for k, i := range places {
			t.Cols[j][k] = c[i]
		}
	}, func(b Block) { t.Blocks = append(t.Blocks, b.take(places)) })
	return t
}

// Standardise returns (x-mean)/scale with the population standard deviation as
// scale; a constant column has scale 1 (sklearn StandardScaler).
func (m Matrix) Standardise() (z Matrix, mean, scale []float64) {
	m = m.Dense()
	z = NewMatrix(m.Rows, len(m.Cols))
	mean, scale = make([]float64, len(m.Cols)), make([]float64, len(m.Cols))
	for j, c := range m.Cols {
		mean[j], scale[j] = Moments(c)
		for i, v := range c {
			z.Cols[j][i] = (v - mean[j]) / scale[j]
		}
	}
	return z, mean, scale
}

// Moments returns the mean and the population standard deviation of x; the
// latter is 1 where x is constant or empty.
func Moments(x []float64) (mean, scale float64) {
	if len(x) == 0 {
		return 0, 1
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	ss := 0.0
	for _, v := range x {
		ss += float64((v - mean) * (v - mean))
	}
	if constant(x) || ss == 0 {
		return mean, 1
	}
	return mean, sqrt(ss / float64(len(x)))
}

func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// Block is Width one-hot columns of a matrix, from column First on. They are not
// stored: row i has a 1 in column First+Codes[i], and no 1 where Codes[i] is not
// one of 0 to Width-1.
type Block struct {
	First, Width int
	Codes        []int32
	rows         [][]int32 // that have a 1, of each column; nil where they are not listed (Listed)
}

// each calls dense for every stored column and block for every block, in the order
// of the columns, so that sums over columns have one order however these are held.
func (m Matrix) each(dense func(j int, c []float64), block func(b Block)) {
	next := 0
	for j := 0; j < len(m.Cols); j++ {
		if next < len(m.Blocks) && m.Blocks[next].First == j {
			block(m.Blocks[next])
			j += m.Blocks[next].Width - 1
			next++
			continue
		}
		dense(j, m.Cols[j])
	}
}

// Dense returns the matrix with every column stored; m itself where it has no blocks.
func (m Matrix) Dense() Matrix {
	if len(m.Blocks) == 0 {
		return m
	}
	d := Matrix{Rows: m.Rows, Cols: slices.Clone(m.Cols)}
	for _, b := range m.Blocks {
		copy(d.Cols[b.First:], b.columns())
	}
	return d
}

func (b Block) columns() [][]float64 {
	m := NewMatrix(len(b.Codes), b.Width)
	for i, k := range b.Codes {
		if uint32(k) < uint32(b.Width) {
			m.Cols[k][i] = 1
		}
	}
	return m.Cols
}

// Pick returns the matrix of the columns at the given places, which ascend.
func (m Matrix) Pick(places []int) Matrix {
	p := Matrix{Rows: m.Rows}
	left := places
	m.each(func(j int, c []float64) {
		if len(left) > 0 && left[0] == j {
			p.Cols, left = append(p.Cols, c), left[1:]
		}
	}, func(b Block) {
		n := 0
		for n < len(left) && left[n] < b.First+b.Width {
			n++
		}
		if n > 0 {
			p.Blocks = append(p.Blocks, b.pick(left[:n], len(p.Cols)))
			p.Cols, left = append(p.Cols, make([][]float64, n)...), left[n:]
		}
	})
	return p
}

// Without returns the matrix without the width columns from first on, which hold whole blocks; it shares its columns
// with m.
func (m Matrix) Without(first, width int) Matrix {
	left := Matrix{Rows: m.Rows, Cols: slices.Concat(m.Cols[:first], m.Cols[first+width:])}
	for _, b := range m.Blocks {
		if b.First >= first+width {
			b.First -= width
		} else if b.First >= first {
			continue
		}
		left.Blocks = append(left.Blocks, b)
	}
	return left
}

// pick returns the block of the columns at the given places alone.
func (b Block) pick(places []int, first int) Block {
	dst := slices.Repeat([]int32{-1}, b.Width)
	for k, j := range places {
		dst[j-b.First] = int32(k)
	}
	p := Block{First: first, Width: len(places), Codes: make([]int32, len(b.Codes))}
	for i, k := range b.Codes {
		p.Codes[i] = -1
		if uint32(k) < uint32(b.Width) {
			p.Codes[i] = dst[k]
		}
	}
	return p
}

// take returns the block of the rows at the given places.
func (b Block) take(places []int) Block {
	t := Block{First: b.First, Width: b.Width, Codes: make([]int32, len(places))}
	for k, i := range places {
		t.Codes[k] = b.Codes[i]
	}
	return t
}

// rows writes rows lo to hi-1, one after the other at the given stride.
func (m Matrix) rows(lo, hi, stride int, dst []float64) {
	clear(dst[:(hi-lo)*stride])
	m.each(func(j int, c []float64) {
		for i, v := range c[lo:hi] {
			dst[i*stride+j] = v
		}
	}, func(b Block) {
		for i, k := range b.Codes[lo:hi] {
			if uint32(k) < uint32(b.Width) {
				dst[i*stride+b.First+int(k)] = 1
			}
		}
	})
}

// dots computes the inner product of each column with r.
func (m Matrix) dots(r, to []float64) {
	m.each(func(j int, c []float64) { to[j] = dot(c, r) }, func(b Block) {
		at := to[b.First : b.First+b.Width]
		clear(at)
		b.dots(r, at)
	})
}

// dots adds the entries of r to the columns of their rows.
func (b Block) dots(r, dst []float64) {
	for i, k := range b.Codes {
		if uint32(k) < uint32(len(dst)) {
			dst[k] += r[i]
		}
	}
}

// add adds the coefficients w of the columns to rows lo, lo+1, ... of to.
func (b Block) add(w []float64, lo int, dst []float64) {
	for i, k := range b.Codes[lo : lo+len(dst)] {
		if uint32(k) < uint32(len(w)) {
			dst[i] += w[k]
		}
	}
}

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

// Listed returns m with the rows of each indicator listed, where it is wide and sparse: learners of what Without leaves
// of it share the lists.
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

// lists returns the rows of a matrix that is listed; nil where it is not.
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

// times returns the matrix, with a column of ones behind, times v.
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
func (s *sparse) dots(r, dst []float64) {
	for j, rows := range s.rows {
		sum := 0.0
		for _, i := range rows {
			sum += r[i]
		}
		dst[j] += sum
	}
}

// conjugate solves (Z' diag(w) Z + 1) d = g, 1 on penalised places, by conjugate gradients with the diagonal before
// (Hestenes, Stiefel 1952). A step far from the optimum need not be exact: it is solved to the share of the first
// gradient that is left (Eisenstat, Walker 1996), a tenth at most, so that steps still converge quadratically; Newton's
// next step corrects the rest.
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
		current := dot(r, z)
		for j := range p {
			p[j] = z[j] + float64(current/before*p[j])
		}
		before = current
	}
	return d
}

// share returns the square of the share of a gradient to which a step is solved.
func (b *binary) share(g []float64) float64 {
	left := dot(g, g)
	if b.begun == 0 {
		b.begun = left
	}
	return min(1e-2, max(1e-24, left/b.begun))
}

// curved returns (Z' diag(w) Z + 1) v.
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

func divided(a, factors []float64) []float64 {
	out := make([]float64, len(a))
	for j, v := range a {
		out[j] = v / math.Max(factors[j], 1e-300)
	}
	return out
}
