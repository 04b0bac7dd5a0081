package graphical

// places lists, for each cell of a table over s in the order of a Set (ascending,
// last fastest), its place in the order that the package computes in.
func places(dom []int, s Set) []int32 {
	strides, stride := make([]int, len(s)), 1
	axes := byDomain(dom, s)
	at := make(map[int]int, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		at[axes[i]] = stride
		stride *= dom[axes[i]]
	}
	for i, c := range s {
		strides[i] = at[c]
	}
	return placesOf(sizes(dom, s), strides)
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
