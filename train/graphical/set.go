package graphical

import (
	"cmp"
	"fmt"
	"slices"
)

// Set is ascending column numbers. A table over a Set is row-major: its last column
// varies fastest.
type Set []int

func (s Set) has(c int) bool {
	for _, x := range s { // of a few columns: sooner done than halving
		if x >= c {
			return x == c
		}
	}
	return false
}

// within reports whether every column of s is one of o.
func (s Set) within(o Set) bool {
	if len(s) > len(o) {
		return false
	}
	pos := 0
	for _, c := range s {
		for pos < len(o) && o[pos] < c {
			pos++
		}
		if pos == len(o) || o[pos] != c {
			return false
		}
	}
	return true
}

// add returns the union of two sets, ascending, in memory of its own.
func (s Set) add(o ...int) Set {
	u := slices.Concat(s, Set(o))
	slices.Sort(u)
	return slices.Compact(u)
}

// or returns the union of two sets, in memory of its own.
func (s Set) or(o Set) Set {
	u := make(Set, 0, len(s)+len(o))
	for len(s) > 0 && len(o) > 0 {
		switch a, b := s[0], o[0]; {
		case a < b:
			u, s = append(u, a), s[1:]
		case b < a:
			u, o = append(u, b), o[1:]
		default:
			u, s, o = append(u, a), s[1:], o[1:]
		}
	}
	return append(append(u, s...), o...)
}

// and returns what two sets share.
func (s Set) and(o Set) Set {
	var both Set
	pos := 0
	for _, c := range s {
		for pos < len(o) && o[pos] < c {
			pos++
		}
		if pos < len(o) && o[pos] == c {
			both = append(both, c)
		}
	}
	return both
}

// minus returns s less the columns of o.
func (s Set) minus(o Set) Set {
	var rest Set
	for _, c := range s {
		if !o.has(c) {
			rest = append(rest, c)
		}
	}
	return rest
}

// checkSet says what is wrong with a set of columns of a domain, or nil.
func checkSet(path string, dom []int, s Set) error {
	for i, c := range s {
		if c < 0 || c >= len(dom) {
			return fmt.Errorf("%s: names column %d, must be from 0 to %d", path, c, len(dom)-1)
		}
		if i > 0 && s[i-1] >= c {
			return fmt.Errorf("%s: has column %d after %d, must ascend", path, c, s[i-1])
		}
	}
	return nil
}

// byDomain returns the order of a table's axes inside the package: the largest domain
// last, so that the innermost loop is the longest. It is one order for all tables,
// so the axes of a part are a subsequence of the axes of the whole.
func byDomain(dom []int, s Set) []int {
	axes := slices.Clone([]int(s))
	slices.SortFunc(axes, func(a, b int) int { return cmp.Or(cmp.Compare(dom[a], dom[b]), cmp.Compare(a, b)) })
	return axes
}

func sizes(dom []int, axes []int) []int {
	dims := make([]int, len(axes))
	for i, c := range axes {
		dims[i] = dom[c]
	}
	return dims
}
