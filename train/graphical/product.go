package graphical

import (
	"fmt"
	"slices"
)

// array is a table over vars, its axes in any order: the last varies fastest.
type array struct {
	vars  Set
	axes  []int
	cells []float64
}

// A product may need a table as large as a tree may be, or of productCells, and
// productWork times as many multiplications.
const (
	productCells = 1_000_000
	productWork  = 100
)

// product returns the table over keep of a times b: a product of matrices for each cell of
// the columns that both have and keep has too.
func (t *Tree) product(a, b array, keep Set) (array, error) {
	most := max(t.limits.Total, productCells)
	if n := cellsOf(t.dom, keep); n > most {
		return array{}, fmt.Errorf("needs a table of %d cells, must need at most %d", n, most)
	}
	a, b = t.marginalOf(a, a.vars.and(b.vars.add(keep...))), t.marginalOf(b, b.vars.and(a.vars.add(keep...)))
	if n := cellsOf(t.dom, a.vars.add(b.vars...)); n/productWork > most {
		return array{}, fmt.Errorf("needs a product of %d cells, must need at most %d", n, productWork*most)
	}
	both := a.vars.and(b.vars)
	each, summed, left, right := both.and(keep), both.minus(keep), a.vars.minus(both), b.vars.minus(both)
	size := func(s Set) int { return int(cellsOf(t.dom, s)) }
	x, y := t.laid(a, slices.Concat(each, left, summed)).cells, t.laid(b, slices.Concat(each, summed, right)).cells
	out := make([]float64, size(each)*size(left)*size(right))
	for i := range size(each) {
		multiplyMatrices(part(x, i, size(each)), part(y, i, size(each)), part(out, i, size(each)), size(left), size(summed),
			size(right))
	}
	return array{vars: keep, axes: slices.Concat(each, left, right), cells: out}, nil
}

// part returns one of n equal parts of a list.
func part(a []float64, i, n int) []float64 { return a[i*len(a)/n : (i+1)*len(a)/n] }

// multiplyMatrices adds the products of each element of the sum in the order of inner.
func multiplyMatrices(a, b, out []float64, rows, inner, columns int) {
	for i := range rows {
		left, row := a[i*inner:][:inner], out[i*columns:][:columns]
		for k := 0; k < inner; {
			if k+4 <= inner && left[k] != 0 && left[k+1] != 0 && left[k+2] != 0 && left[k+3] != 0 {
				addFour(left[k:], b[k*columns:], row)
				k += 4
				continue
			}
			if v := left[k]; v != 0 { // most cells of a large table
				for j, x := range b[k*columns:][:columns] {
					row[j] += float64(v * x)
				}
			}
			k++
		}
	}
}

// addFour adds four rows of a matrix, each times a number, to a row: one after the other in each cell, which is read
// and written once.
func addFour(by, matrix, row []float64) {
	n := len(row)
	v0, v1, v2, v3 := by[0], by[1], by[2], by[3]
	b0, b1, b2, b3 := matrix[:n], matrix[n:][:n], matrix[2*n:][:n], matrix[3*n:][:n]
	for j, x := range row {
		x += float64(v0 * b0[j])
		x += float64(v1 * b1[j])
		x += float64(v2 * b2[j])
		row[j] = x + float64(v3*b3[j])
	}
}

// marginalOf sums a table to some of its columns.
func (t *Tree) marginalOf(a array, vars Set) array {
	if len(vars) == len(a.vars) {
		return a
	}
	v := partOf(t.dom, a.axes, vars)
	sum := array{vars: vars, axes: slices.DeleteFunc(slices.Clone(a.axes), func(c int) bool { return !vars.has(c) }),
		cells: make([]float64, v.cells)}
	v.sum(a.cells, sum.cells)
	return sum
}

// laid returns a table with its axes in the given order; a table that has them so already is returned as it is.
func (t *Tree) laid(a array, axes []int) array {
	if slices.Equal(axes, a.axes) {
		return a
	}
	dims, strides := sizes(t.dom, axes), stridesIn(t.dom, axes, a.axes)
	split, places := len(dims), 1
	for ; split > 0 && places*dims[split-1] <= innerPlaces; split-- {
		places *= dims[split-1]
	}
	outer, inner := placesOf(dims[:split], strides[:split]), placesOf(dims[split:], strides[split:])
	cells := make([]float64, 0, len(a.cells))
	for _, o := range outer {
		from := a.cells[o:]
		for _, i := range inner {
			cells = append(cells, from[i])
		}
	}
	return array{vars: a.vars, axes: axes, cells: cells}
}

// group is a run of blocks of one clique that are improved in a table of all their columns: the clique, which is much
// larger, is read and written once for all of them. What a block is moved by depends on that table alone, so that the
// steps equal the steps of each block by itself, but for how sums are rounded.
type group struct {
	node   int
	view   view // of the group's table within the clique's
	blocks []*block
	exact  bool // whether a table of them is
}

// leastBelow is how many times the cells of a group's table a clique has at least: sums to it are then cut among
// workers, and it stays in cache.
const leastBelow = 8 * pieces

// groups divides the blocks of a clique, in their order, into runs. A block by itself has its first table for the table
// of its group.
func (m *Model) groups(node int, blocks []*block) (list []*group) {
	sets := make([]Set, len(blocks))
	for i, b := range blocks {
		sets[i] = b.first.vars
	}
	for _, r := range m.tree.runs(node, sets) {
		g := &group{node: node, view: partOf(m.tree.dom, m.tree.nodes[node].axes, r.vars), blocks: blocks[r.from:r.to]}
		for _, b := range g.blocks {
			b.view = partOf(m.tree.dom, byDomain(m.tree.dom, r.vars), b.first.vars)
			g.exact = g.exact || b.exact()
		}
		list = append(list, g)
	}
	return list
}

// run is from where to where sets of columns of a clique are read and written together, and the columns of all.
type run struct {
	from, to int
	vars     Set
}

// runs divides sets of columns of a clique into the runs that read and write the fewest cells: cost[k] is the least for
// the first k sets.
func (t *Tree) runs(node int, sets []Set) (list []run) {
	cells := t.nodes[node].cells
	cost, best := make([]int, len(sets)+1), make([]run, len(sets)+1)
	for i, vars := range sets {
		cost[i+1], best[i+1] = cost[i]+cells, run{i, i + 1, vars}
		for start := i - 1; start >= 0; start-- {
			vars = vars.or(sets[start])
			size := int(cellsOf(t.dom, vars))
			if size > cells/leastBelow {
				break
			}
			if c := cost[start] + cells + (i+1-start)*size; c < cost[i+1] {
				cost[i+1], best[i+1] = c, run{start, i + 1, vars}
			}
		}
	}
	for to := len(sets); to > 0; to = best[to].from {
		list = append(list, best[to])
	}
	slices.Reverse(list)
	return list
}
