package graphical

import (
	"fmt"
	"slices"

	"weir/train/graphical"
)

// family is a column of a Bayesian network and its parents, ascending.
type family struct {
	column  int
	parents graphical.Set
}

func (f family) key() string { return fmt.Sprint(f.column, f.parents) }

// set is the columns of a family, ascending.
func (f family) set() graphical.Set {
	s := append(slices.Clone(f.parents), f.column)
	slices.Sort(s)
	return s
}

// mostParents bounds a family; tables of more columns have few rows a cell anyway.
const mostParents = 5

// mostFamilies is how many sets of parents are looked at in a step.
const mostFamilies = 20_000

// families lists what may come next in a network: each column that is not in it, with
// each set of columns of the network that is maximal among those that keep the
// family's table to so many cells. A column whose own codes are more has no parents.
// In wide tables parents are fewer, by the columns alone.
func families(sizes []int, network []family, cells float64) (list []family) {
	var inside graphical.Set
	for _, f := range network {
		inside = append(inside, f.column)
	}
	slices.Sort(inside)
	most := parentsOf(len(inside), len(sizes)-len(inside))
	for x := range sizes {
		if _, is := slices.BinarySearch(inside, x); is {
			continue
		}
		for _, parents := range maximal(sizes, inside, cells/float64(sizes[x]), most) {
			list = append(list, family{x, parents})
		}
	}
	return list
}

// parentsOf is the most parents with which so many columns have no more than
// mostFamilies sets of parents among those of the network.
func parentsOf(inside, columns int) (most int) {
	sets, ofSize := float64(columns), float64(columns)
	for k := 1; k <= mostParents; k++ {
		ofSize = float64(ofSize * (max(0, float64(inside-k+1)) / float64(k)))
		if sets += ofSize; sets > mostFamilies {
			break
		}
		most = k
	}
	return most
}

// held is a family with as many of its parents as the junction tree of the network
// has room for within limits, beside the sets of base.
func (f family) held(sizes []int, base []graphical.Set, limits graphical.Limits) family {
	for len(f.parents) > 0 && len(graphical.Grow(sizes, base, []graphical.Set{f.set()}, limits)) == 0 {
		f.parents = f.parents[:len(f.parents)-1]
	}
	return f
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
