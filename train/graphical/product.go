package graphical

import (
	"fmt"
	"slices"

	"weir/internal/bitmath"
)

// array is a table over vars, its axes in the order of byDomain.
type array struct {
	vars  Set
	cells []float64
}

// A product may need a table as large as a tree may be, or of productCells, and
// productWork times as many multiplications.
const (
	productCells = 1_000_000
	productWork  = 100
)

// product is the table over keep of a times b: a product of matrices for each cell of
// the columns that both have and keep has too.
func (t *Tree) product(a, b array, keep Set) (array, error) {
	most := max(t.limits.Total, productCells)
	if n := cellsOf(t.dom, keep); n > most {
		return array{}, fmt.Errorf("needs a table of %d cells, must need at most %d", n, most)
	}
	a, b = t.over(a, a.vars.and(b.vars.with(keep...))), t.over(b, b.vars.and(a.vars.with(keep...)))
	if n := cellsOf(t.dom, a.vars.with(b.vars...)); n/productWork > most {
		return array{}, fmt.Errorf("needs a product of %d cells, must need at most %d", n, productWork*most)
	}
	both := a.vars.and(b.vars)
	each, summed, left, right := both.and(keep), both.without(keep), a.vars.without(both), b.vars.without(both)
	size := func(s Set) int { return int(cellsOf(t.dom, s)) }
	x, y := t.gather(a, each, left, summed), t.gather(b, each, summed, right)
	out := make([]float64, size(each)*size(left)*size(right))
	for i := range size(each) {
		multiplyMatrices(part(x, i, size(each)), part(y, i, size(each)), part(out, i, size(each)), size(left), size(summed), size(right))
	}
	return t.scatter(out, keep, each, left, right), nil
}

// part is one of n equal parts of a list.
func part(a []float64, i, n int) []float64 { return a[i*len(a)/n : (i+1)*len(a)/n] }

// multiplyMatrices adds the products of each element of the sum in the order of inner.
func multiplyMatrices(a, b, out []float64, rows, inner, columns int) {
	for i := range rows {
		row := out[i*columns:][:columns]
		for k, v := range a[i*inner:][:inner] {
			if v != 0 { // most cells of a large table
				bitmath.Axpy(v, b[k*columns:][:columns], row)
			}
		}
	}
}

// over sums a table to some of its columns.
func (t *Tree) over(a array, vars Set) array {
	if len(vars) == len(a.vars) {
		return a
	}
	v := partOf(t.dom, byDomain(t.dom, a.vars), vars)
	sum := array{vars: vars, cells: make([]float64, v.cells)}
	v.sum(a.cells, sum.cells)
	return sum
}

// gather lays a table out by groups of columns, the last group fastest.
func (t *Tree) gather(a array, groups ...Set) []float64 {
	order := slices.Concat(groups...)
	out := make([]float64, 0, len(a.cells))
	for _, p := range placesOf(sizes(t.dom, order), stridesOf(t.dom, order, a.vars)) {
		out = append(out, a.cells[p])
	}
	return out
}

// scatter is the way back.
func (t *Tree) scatter(cells []float64, vars Set, groups ...Set) array {
	order := slices.Concat(groups...)
	a := array{vars: vars, cells: make([]float64, len(cells))}
	for i, p := range placesOf(sizes(t.dom, order), stridesOf(t.dom, order, vars)) {
		a.cells[p] = cells[i]
	}
	return a
}
