package graphical

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestGrow: the kept sets keep to the limits in the tree that NewTree makes of them,
// which is a junction tree and holds them; what was refused would pass them, up to
// the choice of the path. The forest counts its cells right all along.
func TestGrow(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	refused := 0
	for range 200 {
		dom := make([]int, 2+rng.IntN(12))
		for c := range dom {
			dom[c] = 1 + rng.IntN(6)
		}
		base, order := []Set{randomSet(rng, len(dom), 2)}, make([]Set, 30)
		for i := range order {
			order[i] = randomSet(rng, len(dom), 3)
		}
		l := Limits{Clique: 200, Total: 1000}
		kept := Grow(dom, base, order, l)
		refused += len(order) - len(kept)
		sets := slices.Clone(base)
		for _, k := range kept {
			sets = append(sets, order[k])
		}
		tree, err := NewTree(dom, sets, l)
		if err != nil {
			t.Fatalf("domain %v, sets %v: %v", dom, sets, err)
		}
		holds(t, tree, sets)
		whole(t, dom, append(base, order...))
	}
	if refused == 0 {
		t.Error("nothing was refused: the test sees nothing")
	}
}

func holds(t *testing.T, tree *Tree, sets []Set) {
	t.Helper()
	if !tree.connected() {
		t.Errorf("cliques %v are no junction tree", tree.Cliques())
	}
	for _, s := range sets {
		if tree.holder(s) < 0 {
			t.Errorf("cliques %v do not hold %v", tree.Cliques(), s)
		}
	}
}

// whole checks a forest after every set: it is a junction tree of maximal cliques
// whose cells are as counted.
func whole(t *testing.T, dom []int, sets []Set) {
	t.Helper()
	f := newForest(dom)
	for _, s := range sets {
		f.add(s, Limits{Clique: maxCells, Total: maxCells})
		cliques := slices.DeleteFunc(slices.Clone(f.cliques), func(c Set) bool { return c == nil })
		for i := range cliques {
			if covered(cliques, i) {
				t.Fatalf("clique %v of %v is not maximal", cliques[i], cliques)
			}
		}
		if got := totalCells(dom, cliques); got != f.total || !span(dom, cliques, DefaultLimits()).connected() {
			t.Fatalf("cliques %v have %d cells, the forest counts %d", cliques, got, f.total)
		}
	}
}

// TestNewTree: what exceeds the limits is named; numbers of cells that do not fit 63
// bits are no exception.
func TestNewTree(t *testing.T) {
	for _, c := range []struct {
		dom  []int
		sets []Set
		want string
	}{
		{[]int{1000, 1000, 1000}, []Set{{0, 1}, {1, 2}, {0, 2}}, "the clique of columns [0 1 2] has 1000000000 cells, must have at most 1000000"},
		{[]int{1000, 999, 999, 999, 999, 999, 999}, []Set{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}}, "the junction tree has 5994000 cells, must have at most 5000000"},
		{slices.Repeat([]int{65536}, 10), []Set{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}, "cells, must have at most 1000000"},
		{[]int{2, 0}, nil, "domain[1]: is 0, must be from 1 to 65536"},
		{[]int{2, 2}, []Set{{0, 2}, {1, 1}}, "sets[0]: names column 2, must be from 0 to 1\ngraphical: sets[1]: has column 1 after 1, must ascend"},
	} {
		if _, err := NewTree(c.dom, c.sets, DefaultLimits()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, must say %q", err, c.want)
		}
	}
}

// TestTriangulation: a grid of 3 by 3 columns has a tree of cliques of at most 4
// columns: its treewidth is 3.
func TestTriangulation(t *testing.T) {
	var sets []Set
	for c := range 9 {
		if c%3 < 2 {
			sets = append(sets, Set{c, c + 1})
		}
		if c < 6 {
			sets = append(sets, Set{c, c + 3})
		}
	}
	tree, err := NewTree(slices.Repeat([]int{4}, 9), sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	holds(t, tree, sets)
	for _, c := range tree.Cliques() {
		if len(c) > 4 {
			t.Errorf("clique %v has more than 4 columns", c)
		}
	}
}

// TestMarginalRefuses: a table of too many cells, or of columns that do not exist.
func TestMarginalRefuses(t *testing.T) {
	m := build(t, []int{50, 50, 50, 50}, 1, []Factor{{Set{0}, make([]float64, 50)}}, nil)
	if _, err := m.Marginal(Set{0, 1, 2, 3}); err == nil || !strings.Contains(err.Error(), "6250000 cells") {
		t.Errorf("the error is %v, must name the cells", err)
	}
	if _, err := m.Marginal(Set{4}); err == nil {
		t.Error("a column that is not there has a marginal")
	}
	if got, err := m.Marginal(Set{}); err != nil || len(got) != 1 || got[0] < .999 || got[0] > 1.001 {
		t.Errorf("the table of no column is %v, %v", got, err)
	}
}

// TestGrowForgets: what a forest holds does not grow with the sets that are tried, and
// leaving out what was absorbed changes nothing of what is kept.
func TestGrowForgets(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dom := make([]int, 40)
	for c := range dom {
		dom[c] = 2 + c%3
	}
	f := newForest(dom)
	for range 3000 {
		i := rng.IntN(39)
		f.add(Set{i, i + 1 + rng.IntN(39-i)}, Limits{Clique: 200, Total: 4000})
		live := 0
		for _, c := range f.cliques {
			if c != nil {
				live++
			}
		}
		if live > len(dom) || len(f.cliques) > 2*len(dom)+8 {
			t.Fatalf("holds %d cliques, %d of them maximal, must hold at most %d and %d", len(f.cliques), live, 2*len(dom)+8, len(dom))
		}
		if whole := totalCells(dom, slices.DeleteFunc(slices.Clone(f.cliques), func(c Set) bool { return c == nil })); whole != f.total {
			t.Fatalf("has %d cells, must have %d as it grew", whole, f.total)
		}
	}
}
