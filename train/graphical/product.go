package graphical

import (
	"fmt"
	"slices"
)

// array is a table over vars, its axes in the order of byDomain.
type array struct {
	vars  Set
	cells []float64
}

// productWork bounds the cells that a product goes through, in trees of the largest
// size.
const productWork = 16

// product is the table over keep of a times b.
func (t *Tree) product(a, b array, keep Set) (array, error) {
	all := a.vars.with(b.vars...)
	if n := cellsOf(t.dom, keep); n > t.limits.Clique {
		return array{}, fmt.Errorf("needs a table of %d cells, must need at most %d", n, t.limits.Clique)
	}
	if n := cellsOf(t.dom, all); n/productWork > t.limits.Total {
		return array{}, fmt.Errorf("needs a product of %d cells, must need at most %d", n, productWork*t.limits.Total)
	}
	axes := byDomain(t.dom, all)
	out := array{vars: keep, cells: make([]float64, cellsOf(t.dom, keep))}
	w := odometer{dims: sizes(t.dom, axes), code: make([]int, len(axes))}
	for i, of := range []Set{a.vars, b.vars, keep} {
		w.strides[i] = t.strides(axes, of)
	}
	w.multiply(a.cells, b.cells, out.cells)
	return out, nil
}

// strides is how far a step along each axis moves the place in a table over vars.
func (t *Tree) strides(axes []int, vars Set) []int {
	strides, stride := make([]int, len(axes)), 1
	for i, c := range slices.Backward(axes) {
		if vars.has(c) {
			strides[i] = stride
			stride *= t.dom[c]
		}
	}
	return strides
}

// odometer goes through the cells of a table and keeps their places in three others.
type odometer struct {
	dims, code []int
	strides    [3][]int
	at         [3]int
}

func (w *odometer) multiply(a, b, out []float64) {
	last := len(w.dims) - 1
	if last < 0 {
		out[0] += a[0] * b[0]
		return
	}
	step := [3]int{w.strides[0][last], w.strides[1][last], w.strides[2][last]}
	for more := true; more; more = w.next(last - 1) {
		i, j, k := w.at[0], w.at[1], w.at[2]
		for range w.dims[last] {
			out[k] += a[i] * b[j]
			i, j, k = i+step[0], j+step[1], k+step[2]
		}
	}
}

// next moves to the next code of the axes up to last; false after the last one.
func (w *odometer) next(last int) bool {
	for i := last; i >= 0; i-- {
		w.code[i]++
		back := 0
		if w.code[i] == w.dims[i] {
			w.code[i], back = 0, w.dims[i]
		}
		for k := range w.at {
			w.at[k] += w.strides[k][i] * (1 - back)
		}
		if back == 0 {
			return true
		}
	}
	return false
}
