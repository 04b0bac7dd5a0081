package graphical

import "slices"

// Grow adds sets to a junction tree one after the other, in their order, and returns
// the indexes of those that it could take within the limits. The tree holds base
// whatever its size. The tree grows in place: a set of one clique changes nothing,
// one that spans two trees becomes a clique, else columns are carried along the path
// between them. NewTree of base and the kept sets, in this order, keeps to the limits
// too. Columns must lie within the domain and ascend in every set.
func Grow(dom []int, base, order []Set, l Limits) []int {
	f := newForest(dom)
	for _, s := range base {
		f.add(s, Limits{Clique: maxCells, Total: maxCells})
	}
	var kept []int
	for i, s := range order {
		if f.add(s, l) {
			kept = append(kept, i)
		}
	}
	return kept
}

// grown is the cliques of the tree that Grow makes of sets.
func grown(dom []int, sets []Set) []Set {
	f := newForest(dom)
	for _, s := range sets {
		f.add(s, Limits{Clique: maxCells, Total: maxCells})
	}
	return slices.DeleteFunc(f.cliques, func(c Set) bool { return c == nil })
}
