package graphical

import "slices"

// places lists, for each cell of a table over s in the order of a Set (ascending,
// last fastest), its place in the order that the package computes in.
func places(dom []int, s Set) []int32 {
	return placesOf(sizes(dom, s), stridesOf(dom, s, s))
}

// stridesOf is how far a step along each of some columns moves the place in a table
// over vars, in the order that the package computes in; 0 for a column that it lacks.
func stridesOf(dom, columns []int, vars Set) []int {
	return stridesIn(dom, columns, byDomain(dom, vars))
}

// stridesIn is stridesOf for a table over axes.
func stridesIn(dom, columns, axes []int) []int {
	stride, at := 1, make(map[int]int, len(axes))
	for _, c := range slices.Backward(axes) {
		at[c] = stride
		stride *= dom[c]
	}
	strides := make([]int, len(columns))
	for i, c := range columns {
		strides[i] = at[c]
	}
	return strides
}

// inward brings a table over s from the order of a Set into that of byDomain.
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
