package portable

import (
	"math"
	"slices"
)

// eigen is a symmetric matrix on its way to its eigenvalues: vectors[j] is column j.
type eigen struct {
	vectors     [][]float64
	values, off []float64 // the diagonal and what stands beside it
}

// SymmetricEigen returns the eigenvalues, rising, and their vectors of unit length, of a
// symmetric matrix of which it takes the columns. It is false where they do not converge. Method:
// Householder's tridiagonal form and the QL iteration (EISPACK tred2 and tql2, Smith et
// al. 1976, in the order of JAMA).
func SymmetricEigen(columns [][]float64) (values []float64, vectors [][]float64, ok bool) {
	n := len(columns)
	e := &eigen{columns, make([]float64, n), make([]float64, n)}
	if n == 0 {
		return nil, nil, true
	}
	for i := n - 1; i > 0; i-- {
		e.reflect(i)
	}
	e.accumulate()
	if !e.iterate() {
		return nil, nil, false
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case e.values[a] < e.values[b]:
			return -1
		case e.values[a] > e.values[b]:
			return 1
		}
		return 0
	})
	for _, k := range order {
		values, vectors = append(values, e.values[k]), append(vectors, columns[k])
	}
	return values, vectors, true
}

// reflect makes row i of the lower triangle tridiagonal. The vector of the reflection
// goes to the head of column i.
func (e *eigen) reflect(i int) {
	d, v := e.vectors[i][:i], e.vectors
	scale := 0.0
	for k := range d {
		d[k] = v[k][i]
		scale += math.Abs(d[k])
	}
	if scale == 0 || i == 1 {
		e.off[i] = d[i-1]
		clear(d)
		e.values[i] = 0
		return
	}
	for k := range d {
		d[k] /= scale
	}
	h := Dot(d, d)
	f, g := d[i-1], math.Sqrt(h)
	if f > 0 {
		g = -g
	}
	e.off[i] = scale * g
	h -= float64(f * g)
	d[i-1] = f - g
	p := e.off[:i] // the product of what is left and d
	clear(p)
	for j, x := range d {
		below := v[j][j+1 : i]
		p[j] += float64(v[j][j]*x) + Dot(below, d[j+1:])
		Axpy(x, below, p[j+1:])
	}
	for j := range p {
		p[j] /= h
	}
	Axpy(-Dot(p, d)/(h+h), d, p)
	for j, x := range d {
		Axpy(-x, p[j:], v[j][j:i])
		Axpy(-p[j], d[j:], v[j][j:i])
	}
	e.values[i] = h
}

// accumulate turns the reflections into the columns of their product.
func (e *eigen) accumulate() {
	v := e.vectors
	for i, column := range v {
		diagonal, h := column[i], e.values[i]
		d := slices.Clone(column[:i])
		if h != 0 {
			for j := range i {
				Axpy(-Dot(d, v[j][:i])/h, d, v[j][:i])
			}
		}
		for j := range i {
			v[j][i] = 0
		}
		clear(column)
		column[i], e.values[i] = 1, diagonal
	}
}

// iterate ends where what stands beside the diagonal is lost in rounding.
func (e *eigen) iterate() bool {
	n, shift, size := len(e.values), 0.0, 0.0
	copy(e.off, e.off[1:])
	e.off[n-1] = 0
	for l := range n {
		size = max(size, math.Abs(e.values[l])+math.Abs(e.off[l]))
		small := float64(0x1p-52 * size)
		m := l
		for m < n-1 && math.Abs(e.off[m]) > small {
			m++
		}
		for round := 0; m > l && (round == 0 || math.Abs(e.off[l]) > small); round++ {
			if round == 100 || !(size < math.MaxFloat64) {
				return false
			}
			shift += e.sweep(l, m)
		}
		e.values[l] += shift
		e.off[l] = 0
	}
	return !math.IsNaN(size)
}

// sweep is one implicit step on rows l to m; it returns what it took off the values from
// l on.
func (e *eigen) sweep(l, m int) float64 {
	d, o := e.values, e.off
	g := d[l]
	p := (d[l+1] - g) / float64(2*o[l])
	r := length(p, 1)
	if p < 0 {
		r = -r
	}
	d[l], d[l+1] = o[l]/(p+r), float64(o[l]*(p+r))
	next, h := d[l+1], g-d[l]
	for i := l + 2; i < len(d); i++ {
		d[i] -= h
	}
	p = d[m]
	c, c2, c3, s, s2, beside := 1.0, 1.0, 1.0, 0.0, 0.0, o[l+1]
	for i := m - 1; i >= l; i-- {
		c3, c2, s2 = c2, c, s
		g, q := float64(c*o[i]), float64(c*p)
		r := length(p, o[i])
		o[i+1] = s * r
		s, c = o[i]/r, p/r
		p = float64(c*d[i]) - float64(s*g)
		d[i+1] = q + float64(s*(float64(c*g)+float64(s*d[i])))
		turn(e.vectors[i], e.vectors[i+1], c, s)
	}
	p = -s * s2 * c3 * beside * o[l] / next
	o[l], d[l] = float64(s*p), float64(c*p)
	return h
}

// turn rotates two columns: x = c x - s y, y = s x + c y.
func turn(x, y []float64, c, s float64) {
	for k, a := range x {
		b := y[k]
		x[k] = float64(c*a) - float64(s*b)
		y[k] = float64(s*a) + float64(c*b)
	}
}

// length is the root of x*x + y*y, which does not overflow on the way.
func length(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if x == 0 {
		return 0
	}
	q := y / x
	return float64(x * math.Sqrt(1+float64(q*q)))
}
