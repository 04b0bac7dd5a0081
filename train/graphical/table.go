package graphical

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Table is a noisy marginal: Y in rows, row-major over Vars, and the variance of the
// noise of each cell. A variance of +Inf says that the cell was not measured; one of 0
// that Y is exact (a public total), which the fitted model then has.
type Table struct {
	Vars   Set
	Y, Var []float64
}

// Mask is structural zeros: Forbidden marks the cells of a table over Vars, row-major,
// that no row has.
type Mask struct {
	Vars      Set
	Forbidden []bool
}

// Factor is a part of a model: the logarithms, over the cells of Vars, row-major, that
// add up to the logarithm of a row's weight.
type Factor struct {
	Vars Set
	Log  []float64
}

func (t *Tree) checkTable(path string, x Table, total float64) error {
	errs := []error{t.checkPart(path, x.Vars, len(x.Y))}
	if len(x.Var) != len(x.Y) {
		return errors.Join(append(errs, fmt.Errorf("%s.Var: has %d cells, must have the %d of Y", path, len(x.Var),
			len(x.Y)))...)
	}
	for i, v := range x.Var {
		if !(v >= 0) || v < math.Inf(1) && (math.IsNaN(x.Y[i]) || math.IsInf(x.Y[i], 0)) || v == 0 && x.Y[i] < 0 {
			errs = append(errs, fmt.Errorf("%s: cell %d has y %g of variance %g; y must be finite (not below 0 where exact), "+
				"a variance at least 0", path, i, x.Y[i], v))
			break
		}
	}
	return errors.Join(append(errs, x.checkExact(path, total))...)
}

// checkPart says what is wrong with a table of the given number of cells over vars, or nil: a
// clique must hold it.
func (t *Tree) checkPart(path string, vars Set, cells int) error {
	if err := checkSet(path+".Vars", t.dom, vars); err != nil {
		return err
	}
	if t.holder(vars) < 0 {
		return fmt.Errorf("%s.Vars: is %v, must lie within a clique of the tree", path, vars)
	}
	if want := cellsOf(t.dom, vars); int64(cells) != want {
		return fmt.Errorf("%s: has %d cells, must have %d", path, cells, want)
	}
	return nil
}

// view reads a table along some of its axes, the axes of a part. The part's place of
// a row of cells is outer[i] + inner[j]; the row then runs over the last axes of the
// table, all of them in the part (step true: the place moves with the cell) or none
// (one place a row). Two short lists instead of one long keep the places in cache.
type view struct {
	outer, inner []int32
	run          int // cells of a row
	step         bool
	cells        int // of the part
}

// innerPlaces bounds the shorter list of places.
const innerPlaces = 1 << 10

// newView returns the view of a table of axes dims in which in marks the part's.
func newView(dims []int, in []bool) view {
	v := view{run: 1, cells: 1}
	strides := make([]int, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		if in[i] {
			strides[i] = v.cells
			v.cells *= dims[i]
		}
	}
	k := len(dims)
	for ; k > 0 && in[k-1] == in[len(dims)-1]; k-- {
		v.run *= dims[k-1]
	}
	v.step = len(dims) > 0 && in[len(dims)-1]
	split, places := k, 1
	for ; split > 0 && places*dims[split-1] <= innerPlaces; split-- {
		places *= dims[split-1]
	}
	v.outer, v.inner = placesOf(dims[:split], strides), placesOf(dims[split:k], strides[split:])
	return v
}

// partOf returns the view of a table over axes along the columns of part.
func partOf(dom []int, axes []int, part Set) view {
	in := make([]bool, len(axes))
	for i, c := range axes {
		in[i] = part.has(c)
	}
	return newView(sizes(dom, axes), in)
}

// placesOf returns the place of every combination of dims, the last fastest.
func placesOf(dims, strides []int) []int32 {
	places := []int32{0}
	for i, n := range dims {
		next := make([]int32, 0, len(places)*n)
		for _, p := range places {
			for code := range n {
				next = append(next, p+int32(code*strides[i]))
			}
		}
		places = next
	}
	return places
}

// sum adds the cells of a table into the part, which it clears first.
func (v *view) sum(table, part []float64) {
	clear(part)
	v.sumRows(table, part, 0, len(v.outer))
}

// sumRows does so for the outer places from lo to hi, without clearing.
func (v *view) sumRows(table, part []float64, lo, hi int) {
	pos := lo * len(v.inner) * v.run
	for _, o := range v.outer[lo:hi] {
		for _, i := range v.inner {
			row, place := table[pos:pos+v.run], int(o+i)
			if pos += v.run; !v.step {
				part[place] += rowSum(row)
				continue
			}
			to := part[place : place+len(row)]
			for k, x := range row {
				to[k] += x
			}
		}
	}
}

// rowSum adds four sums side by side: one addition need not wait for the last.
func rowSum(row []float64) float64 {
	var a, b, c, d float64
	for len(row) >= 4 {
		a, b, c, d = a+row[0], b+row[1], c+row[2], d+row[3]
		row = row[4:]
	}
	for _, x := range row {
		a += x
	}
	return a + b + (c + d)
}

// scaleRows multiplies every cell of a table by its place in the part, for the outer
// places from lo to hi.
func (v *view) scaleRows(table, part []float64, lo, hi int) {
	pos := lo * len(v.inner) * v.run
	for _, o := range v.outer[lo:hi] {
		for _, i := range v.inner {
			row, place := table[pos:pos+v.run], int(o+i)
			if pos += v.run; v.step {
				multiply(row, part[place:place+len(row)])
				continue
			}
			by := part[place]
			for k := range row {
				row[k] *= by
			}
		}
	}
}

func (v *view) scale(table, part []float64) { v.scaleRows(table, part, 0, len(v.outer)) }

func multiply(a, keys []float64) {
	keys = keys[:len(a)]
	for i := range a {
		a[i] *= keys[i]
	}
}

// add adds to every cell of a table its place in the part.
func (v *view) add(table, part []float64) {
	pos := 0
	for _, o := range v.outer {
		for _, i := range v.inner {
			row, place := table[pos:pos+v.run], int(o+i)
			if pos += v.run; v.step {
				for k, x := range part[place : place+len(row)] {
					row[k] += x
				}
				continue
			}
			x := part[place]
			for k := range row {
				row[k] += x
			}
		}
	}
}

// greatest finds the largest cell of each place of the part.
func (v *view) greatest(table, part []float64) {
	for i := range part {
		part[i] = math.Inf(-1)
	}
	pos := 0
	for _, o := range v.outer {
		for _, i := range v.inner {
			row, place := table[pos:pos+v.run], int(o+i)
			pos += v.run
			for k, x := range row {
				end := place
				if v.step {
					end += k
				}
				if x > part[end] {
					part[end] = x
				}
			}
		}
	}
}

// places lists, for each cell of a table over s in the order of a Set (ascending,
// last fastest), its place in the order that the package computes in.
func places(dom []int, s Set) []int32 {
	return placesOf(sizes(dom, s), stridesOf(dom, s, s))
}

// stridesOf returns how far a step along each of some columns moves the place in a table
// over vars, in the order that the package computes in; 0 for a column that it lacks.
func stridesOf(dom, columns []int, vars Set) []int {
	return stridesIn(dom, columns, byDomain(dom, vars))
}

// stridesIn returns stridesOf for a table over axes.
func stridesIn(dom, columns, axes []int) []int {
	stride, places := 1, make(map[int]int, len(axes))
	for _, c := range slices.Backward(axes) {
		places[c] = stride
		stride *= dom[c]
	}
	strides := make([]int, len(columns))
	for i, c := range columns {
		strides[i] = places[c]
	}
	return strides
}

// inward brings a table over s from the order of a Set into the order of byDomain.
func inward[T any](dom []int, s Set, table []T) []T {
	in := make([]T, len(table))
	for i, p := range places(dom, s) {
		in[p] = table[i]
	}
	return in
}

// outward brings a table over s back into the order of a Set.
func outward[T any](dom []int, s Set, table []T) []T {
	out := make([]T, len(table))
	for i, p := range places(dom, s) {
		out[i] = table[p]
	}
	return out
}
