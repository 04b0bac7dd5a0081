package graphical

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Tree is a junction tree of the columns of a domain: the cliques of each column are
// connected. Every column is in at least one clique.
type Tree struct {
	dom    []int
	limits Limits
	nodes  []node // depth first, the root first
}

// node is a clique and its link to the one above.
type node struct {
	vars     Set
	axes     []int // of its table, by domain
	cells    int
	parent   int // -1: the root
	children []int
	sepVars  Set   // of the separator from the parent; none: one cell
	sep      []int // axes of its table
	sepCells int
	above    view // the separator within the parent's table
	own      view // and within this one
}

// perturbations is how many random eliminations NewTree tries besides three greedy
// ones; a wide table gets few.
func perturbations(columns int) int {
	if columns > 60 {
		return 3
	}
	return 20
}

// NewTree finds a junction tree that holds every set. It tries greedy eliminations
// (by size of the clique, by size over the column's own codes, by fill), random
// perturbations of the first, and the tree that Grow makes of the sets in their
// order, and keeps the one of fewest cells. Where none keeps to the limits the error
// names the clique that exceeds them.
func NewTree(dom []int, sets []Set, l Limits) (*Tree, error) {
	errs := []error{checkDomain(dom)}
	for i, s := range sets {
		errs = append(errs, checkSet(fmt.Sprintf("graphical: sets[%d]", i), dom, s))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	best := grown(dom, sets)
	try := func(r rule) {
		if c := maximal(newGraph(dom, sets).eliminate(r)); l.better(dom, c, best) {
			best = c
		}
	}
	try(bySize)
	try(byGain)
	try(byFill)
	rng := rand.New(rand.NewPCG(1, 2))
	for range perturbations(len(dom)) {
		try(perturbed(rng))
	}
	if err := l.check(dom, best); err != nil {
		return nil, err
	}
	return span(dom, best, l), nil
}

// better reports whether a keeps to the limits and b does not, or else a has fewer
// cells.
func (l Limits) better(dom []int, a, b []Set) bool {
	if fits := l.check(dom, a) == nil; fits != (l.check(dom, b) == nil) {
		return fits
	}
	return totalCells(dom, a) < totalCells(dom, b)
}

func totalCells(dom []int, cliques []Set) int64 {
	total := int64(0)
	for _, c := range cliques {
		total = plus(total, cellsOf(dom, c))
	}
	return total
}

// maximal drops the cliques of an elimination that an earlier one holds.
func maximal(cliques []Set) []Set {
	var kept []Set
	for _, c := range cliques {
		if !slices.ContainsFunc(kept, c.within) {
			kept = append(kept, c)
		}
	}
	return kept
}

// Cells is the cells of all cliques.
func (t *Tree) Cells() int64 { return totalCells(t.dom, t.Cliques()) }

// Cliques are the sets of columns of the tree's cliques.
func (t *Tree) Cliques() []Set {
	var all []Set
	for _, n := range t.nodes {
		all = append(all, n.vars)
	}
	return all
}

// holder is the smallest clique that holds a set; -1 if there is none.
func (t *Tree) holder(s Set) int {
	best := -1
	for i := range t.nodes {
		if s.within(t.nodes[i].vars) && (best < 0 || t.nodes[i].cells < t.nodes[best].cells) {
			best = i
		}
	}
	return best
}
