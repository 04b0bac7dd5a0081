package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// ungroup divides the groups of a fit into one for each block.
func (f *fitting) ungroup() {
	for i, list := range f.groups {
		var single []*group
		for _, g := range list {
			for _, b := range g.blocks {
				single = append(single, f.Model.groups(i, []*block{b})...)
			}
		}
		f.groups[i] = single
	}
}

// TestGroupsStepAsBlocksDo: a sweep by groups is the sweep of their blocks one after the other, but for rounding: after
// ten sweeps over tables of noise 20, and as many over the exact ones alone, no cell of a clique differs by more than
// 1e-9 of itself. Columns on their own are exact tables, as models of marginals have them, and are met within a row.
func TestGroupsStepAsBlocksDo(t *testing.T) {
	tree, tables := adult(t, 1_000_000)
	exact := 0
	for i, x := range tables {
		if len(x.Vars) == 1 {
			tables[i] = meets(x)
			exact++
		}
	}
	swept := func(separate bool) (*fitting, int) {
		m, err := newModel(tree, 32_561, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, groups := newFitting(m, tables, Options{Workers: 1}), 0
		if separate {
			f.ungroup()
		}
		for _, list := range f.groups {
			groups += len(list)
		}
		for sweep := range 20 {
			f.exactOnly = sweep >= 10
			f.visit(0)
		}
		return f, groups
	}
	together, few := swept(false)
	single, many := swept(true)
	if 4*few > 3*many || exact != len(tree.dom) {
		t.Errorf("%d groups of %d blocks, %d exact tables: must be at most three quarters as many, and one a column", few,
			many, exact)
	}
	for _, target := range together.targets {
		if !target.exact {
			continue
		}
		for k, x := range together.part(tree.holder(target.vars), target.vars).cells {
			if math.Abs(x-target.y[k]) > 1 {
				t.Errorf("column %v, code %d: %g rows, must be %g", target.vars, k, x, target.y[k])
			}
		}
	}
	for i, cells := range together.beliefs {
		for k, x := range cells {
			if y := single.beliefs[i][k]; !(math.Abs(x-y) <= 1e-9*y) {
				t.Fatalf("clique %d, cell %d: %g by groups, %g by blocks", i, k, x, y)
			}
		}
	}
}

// meets returns a table without noise of counts that are positive and sum to the rows.
func meets(x Table) Table {
	y, sum := slices.Clone(x.Y), 0.0
	for k := range y {
		y[k] = max(y[k], 1)
		sum += y[k]
	}
	for k := range y {
		y[k] *= 32_561 / sum
	}
	return Table{Vars: x.Vars, Y: y, Var: make([]float64, len(y))}
}

// TestRunsReadTheFewestCells: of all ways to divide up to seven sets into runs whose tables have at most a 64th of
// the clique's cells, the one that is taken reads the fewest cells.
func TestRunsReadTheFewestCells(t *testing.T) {
	tree, err := NewTree([]int{2, 3, 4, 5, 6, 7}, []Set{{0, 1, 2, 3, 4, 5}}, Limits{Clique: 1e6, Total: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	sets := []Set{{4, 5}, {3, 5}, {0, 5}, {0, 1}, {1, 2}, {0, 2}, {0, 3}}
	for n := range len(sets) + 1 {
		got, pos := 0, 0
		for _, r := range tree.runs(0, sets[:n]) {
			if r.from != pos {
				t.Fatalf("runs %v do not follow each other", tree.runs(0, sets[:n]))
			}
			pos = r.to
			got += tree.readBy(sets[r.from:r.to])
		}
		best := math.MaxInt
		for cuts := range 1 << max(n-1, 0) { // a bit for each place between two sets
			sum, start := 0, 0
			for to := 1; to <= n; to++ {
				if to == n || cuts>>(to-1)&1 == 1 {
					sum, start = min(sum+tree.readBy(sets[start:to]), math.MaxInt/2), to
				}
			}
			best = min(best, sum)
		}
		if n > 0 && got != best || pos != n {
			t.Errorf("%d sets: %d cells are read, %d in the best way", n, got, best)
		}
	}
}

// readBy returns the cells that a run reads: of the clique, and of its own table where it holds several sets.
func (t *Tree) readBy(sets []Set) int {
	cells := t.nodes[0].cells
	if len(sets) == 1 {
		return cells
	}
	var vars Set
	for _, s := range sets {
		vars = vars.or(s)
	}
	if size := int(cellsOf(t.dom, vars)); size <= cells/leastBelow {
		return cells + len(sets)*size
	}
	return math.MaxInt / 2
}

// TestEachPair: every pair of 40 random models, with loops, masks and unconnected columns, comes once and is the
// marginal that elimination finds.
func TestEachPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	for model := range 40 {
		dom := randomDomain(rng)
		var factors []Factor
		for range 1 + rng.IntN(5) {
			factors = append(factors, randomFactor(rng, dom, randomSet(rng, len(dom), 3), 1.5))
		}
		var masks []Mask
		if model%2 > 0 {
			masks = append(masks, randomMask(rng, dom))
		}
		m, seen := build(t, dom, 1000, factors, masks), map[[2]int]bool{}
		m.EachPair(func(a, b int, table []float64) {
			if seen[[2]int{a, b}] {
				t.Fatalf("pair %d, %d comes twice", a, b)
			}
			seen[[2]int{a, b}] = true
			want, err := m.Marginal(Set{a, b})
			if err != nil {
				t.Fatal(err)
			}
			for k := range want {
				if math.Abs(table[k]-want[k]) > 1e-9*1000 {
					t.Fatalf("model %d, pair %d, %d of %v: cell %d is %v, must be %v", model, a, b, dom, k, table[k], want[k])
				}
			}
		})
		if n := len(dom); len(seen) != n*(n-1)/2 {
			t.Fatalf("%d pairs of %d columns", len(seen), n)
		}
	}
}
