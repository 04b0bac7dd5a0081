package graphical

import (
	"slices"

	"weir/train/graphical"
)

// family is a column of a Bayesian network and its parents, ascending.
type family struct {
	column  int
	parents graphical.Set
}

// set is the columns of a family, ascending.
func (f family) set() graphical.Set {
	s := append(slices.Clone(f.parents), f.column)
	slices.Sort(s)
	return s
}

// mostParents bounds a family; tables of more columns have few rows a cell anyway.
const mostParents = 5

// families lists what may come next in a network: each column that is not in it, with
// each set of columns of the network that is maximal among those that keep the
// family's table to so many cells and the junction tree of all families to limits. A
// column whose own codes are more has no parents. With too many candidates the
// parents are fewer.
func families(sizes []int, network []family, cells float64, limits graphical.Limits) []family {
	for most := mostParents; ; most-- {
		list := withParents(sizes, network, cells, most, limits)
		if len(list) <= mostCandidates || most == 0 {
			return list
		}
	}
}

func withParents(sizes []int, network []family, cells float64, most int, limits graphical.Limits) (list []family) {
	var inside graphical.Set
	base := alone(len(sizes))
	for _, f := range network {
		inside, base = append(inside, f.column), append(base, f.set())
	}
	slices.Sort(inside)
	for x := range sizes {
		if slices.Contains(inside, x) {
			continue
		}
		held := func(parents graphical.Set) bool {
			return len(graphical.Grow(sizes, base, []graphical.Set{family{x, parents}.set()}, limits)) > 0
		}
		for _, parents := range maximal(sizes, inside, cells/float64(sizes[x]), most) {
			for len(parents) > 0 && !held(parents) {
				parents = parents[:len(parents)-1]
			}
			if f := (family{x, parents}); !slices.ContainsFunc(list, f.same) {
				list = append(list, f)
			}
		}
		if len(list) > mostCandidates {
			return list
		}
	}
	return list
}

func (f family) same(o family) bool {
	return f.column == o.column && slices.Equal(f.parents, o.parents)
}

// maximal lists the sets of so many columns at most whose cells are at most so many,
// and that no further column of those given fits into: at least the empty set.
func maximal(sizes []int, of graphical.Set, cells float64, most int) (list []graphical.Set) {
	var grow func(s graphical.Set, from int, room float64)
	grow = func(s graphical.Set, from int, room float64) {
		full := len(s) == most
		for i := 0; i < len(of) && !full; i++ {
			if fits := room >= float64(sizes[of[i]]) && !slices.Contains(s, of[i]); fits && i >= from {
				grow(append(slices.Clone(s), of[i]), i+1, room/float64(sizes[of[i]]))
			}
		}
		if full || !extends(sizes, of, s, room) {
			list = append(list, s)
		}
	}
	grow(nil, 0, cells)
	return list
}

func extends(sizes []int, of, s graphical.Set, room float64) bool {
	return slices.ContainsFunc(of, func(c int) bool { return room >= float64(sizes[c]) && !slices.Contains(s, c) })
}

// axis says how the cells of a family's table are laid out around its column: a cell is
// (before*sizes[column] + code)*after + rest.
type axis struct{ before, size, after int }

func (f family) axis(sizes []int) axis {
	a := axis{1, sizes[f.column], 1}
	for _, c := range f.parents {
		if c < f.column {
			a.before *= sizes[c]
		} else {
			a.after *= sizes[c]
		}
	}
	return a
}

// each visits the cells of one combination of the parents after the other.
func (a axis) each(visit func(cell func(code int) int)) {
	for b := range a.before {
		for r := range a.after {
			visit(func(code int) int { return (b*a.size+code)*a.after + r })
		}
	}
}
