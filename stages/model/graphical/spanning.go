package graphical

import (
	"fmt"

	"weir/train/graphical"
)

// parts says which columns pairs have joined so far.
type parts []int

func newParts(columns int) parts {
	p := make(parts, columns)
	for c := range p {
		p[c] = c
	}
	return p
}

func (p parts) of(column int) int {
	for p[column] != column {
		column = p[column]
	}
	return column
}

func (p parts) joins(s graphical.Set) bool { return p.of(s[0]) != p.of(s[1]) }

func (p parts) join(s graphical.Set) { p[p.of(s[1])] = p.of(s[0]) }

// steps is how many pairs a spanning forest of the pairs has: the columns less the
// parts that the pairs join them to. It is public.
func steps(columns int, pairs []graphical.Set) (n int) {
	p := newParts(columns)
	for _, s := range pairs {
		if p.joins(s) {
			p.join(s)
			n++
		}
	}
	return n
}

// spanning is the tree of Kruskal's algorithm where each next pair is chosen, by pick,
// among those that join two parts. pick returns the place in what it is given.
func spanning(columns int, pairs []graphical.Set, pick func(candidates []int) (int, error)) (tree []int, err error) {
	p := newParts(columns)
	for range steps(columns, pairs) {
		var candidates []int
		for i, s := range pairs {
			if p.joins(s) {
				candidates = append(candidates, i)
			}
		}
		at, err := pick(candidates)
		if err != nil {
			return nil, err
		}
		if at < 0 || at >= len(candidates) {
			return nil, fmt.Errorf("a choice gives place %d of %d pairs", at, len(candidates))
		}
		tree = append(tree, candidates[at])
		p.join(pairs[candidates[at]])
	}
	return tree, nil
}
