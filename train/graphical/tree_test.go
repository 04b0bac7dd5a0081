package graphical

import (
	"math"
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
		retained := Grow(dom, base, order, l)
		refused += len(order) - len(retained)
		sets := slices.Clone(base)
		for _, k := range retained {
			sets = append(sets, order[k])
		}
		tree, err := NewTree(dom, sets, l)
		if err != nil {
			t.Fatalf("domain %v, sets %v: %v", dom, sets, err)
		}
		checkHolds(t, tree, sets)
		whole(t, dom, append(base, order...))
	}
	if refused == 0 {
		t.Error("nothing was refused: the test sees nothing")
	}
}

func checkHolds(t *testing.T, tree *Tree, sets []Set) {
	t.Helper()
	if !tree.connected() {
		t.Errorf("cliques %v are not a junction tree", tree.Cliques())
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
		{[]int{1000, 1000, 1000}, []Set{{0, 1}, {1, 2}, {0, 2}},
			"the clique of columns [0 1 2] has 1000000000 cells, must have at most 1000000"},
		{[]int{1000, 999, 999, 999, 999, 999, 999}, []Set{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}},
			"the junction tree has 5994000 cells, must have at most 5000000"},
		{slices.Repeat([]int{65536}, 10), []Set{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}, "cells, must have at most 1000000"},
		{[]int{2, 0}, nil, "domain[1]: is 0, must be from 1 to 65536"},
		{[]int{2, 2}, []Set{{0, 2}, {1, 1}}, "sets[0]: names column 2, must be from 0 to 1\ngraphical: sets[1]: has column " +
			"1 after 1, must ascend"},
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
	checkHolds(t, tree, sets)
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
			t.Fatalf("holds %d cliques, %d of them maximal, must hold at most %d and %d", len(f.cliques), live, 2*len(dom)+8,
				len(dom))
		}
		if whole := totalCells(dom, slices.DeleteFunc(slices.Clone(f.cliques),
			func(c Set) bool { return c == nil })); whole != f.total {
			t.Fatalf("has %d cells, must have %d as it grew", whole, f.total)
		}
	}
}

// brute is the distribution of a small model by enumeration of all rows.
type brute struct {
	dom  []int
	rows [][]uint16
	prob []float64
	logZ float64
}

func enumerate(dom []int, factors []Factor, masks []Mask) *brute {
	b := &brute{dom: dom, rows: [][]uint16{{}}}
	for _, n := range dom {
		var next [][]uint16
		for _, r := range b.rows {
			for code := range n {
				next = append(next, append(slices.Clone(r), uint16(code)))
			}
		}
		b.rows = next
	}
	b.prob = make([]float64, len(b.rows))
	sum := 0.0
	for i, r := range b.rows {
		log := 0.0
		for _, f := range factors {
			log += f.Log[place(dom, f.Vars, r)]
		}
		for _, m := range masks {
			if m.Forbidden[place(dom, m.Vars, r)] {
				log = math.Inf(-1)
			}
		}
		b.prob[i] = math.Exp(log)
		sum += b.prob[i]
	}
	b.logZ = math.Log(sum)
	for i := range b.prob {
		b.prob[i] /= sum
	}
	return b
}

func (b *brute) marginal(vars Set) []float64 {
	out := make([]float64, cellsOf(b.dom, vars))
	for i, r := range b.rows {
		out[place(b.dom, vars, r)] += b.prob[i]
	}
	return out
}

// randomSet returns up to most columns of so many.
func randomSet(rng *rand.Rand, columns, most int) Set {
	s := Set(rng.Perm(columns)[:1+rng.IntN(min(most, columns))])
	slices.Sort(s)
	return s
}

func randomFactor(rng *rand.Rand, dom []int, vars Set, spread float64) Factor {
	f := Factor{Vars: vars, Log: make([]float64, cellsOf(dom, vars))}
	for i := range f.Log {
		f.Log[i] = spread * rng.NormFloat64()
	}
	return f
}

// build makes the model of factors and masks on a tree of their sets.
func build(t testing.TB, dom []int, total float64, factors []Factor, masks []Mask) *Model {
	t.Helper()
	var sets []Set
	for _, f := range factors {
		sets = append(sets, f.Vars)
	}
	for _, m := range masks {
		sets = append(sets, m.Vars)
	}
	tree, err := NewTree(dom, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := FromPotentials(Potentials{Domain: dom, Total: total, Cliques: tree.Cliques(), Factors: factors,
		Masks: masks}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// worst returns the largest difference of two tables.
func worst(t testing.TB, got, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d cells, must be %d", len(got), len(want))
	}
	d := 0.0
	for i := range got {
		if e := math.Abs(got[i] - want[i]); !(e <= d) {
			d = e
		}
	}
	return d
}
