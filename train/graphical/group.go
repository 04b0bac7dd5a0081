package graphical

import "slices"

// group is a run of blocks of one clique that are improved in a table of all their columns: the clique, which is much
// larger, is read and written once for all of them. What a block is moved by depends on that table alone, so that the
// steps equal the steps of each block by itself, but for how sums are rounded.
type group struct {
	node   int
	view   view // of the group's table within the clique's
	blocks []*block
	exact  bool // whether a table of them is
}

// leastBelow is how many times the cells of a group's table a clique has at least: sums to it are then cut among
// workers, and it stays in cache.
const leastBelow = 8 * pieces

// groups divides the blocks of a clique, in their order, into runs. A block by itself has its first table for that of
// its group.
func (m *Model) groups(node int, blocks []*block) (list []*group) {
	sets := make([]Set, len(blocks))
	for i, b := range blocks {
		sets[i] = b.first.vars
	}
	for _, r := range m.tree.runs(node, sets) {
		g := &group{node: node, view: partOf(m.tree.dom, m.tree.nodes[node].axes, r.vars), blocks: blocks[r.from:r.to]}
		for _, b := range g.blocks {
			b.view = partOf(m.tree.dom, byDomain(m.tree.dom, r.vars), b.first.vars)
			g.exact = g.exact || b.exact()
		}
		list = append(list, g)
	}
	return list
}

// run is from where to where sets of columns of a clique are read and written together, and the columns of all.
type run struct {
	from, to int
	vars     Set
}

// runs divides sets of columns of a clique into the runs that read and write the fewest cells: cost[k] is the least for
// the first k sets.
func (t *Tree) runs(node int, sets []Set) (list []run) {
	cells := t.nodes[node].cells
	cost, best := make([]int, len(sets)+1), make([]run, len(sets)+1)
	for i, vars := range sets {
		cost[i+1], best[i+1] = cost[i]+cells, run{i, i + 1, vars}
		for from := i - 1; from >= 0; from-- {
			vars = vars.or(sets[from])
			size := int(cellsOf(t.dom, vars))
			if size > cells/leastBelow {
				break
			}
			if c := cost[from] + cells + (i+1-from)*size; c < cost[i+1] {
				cost[i+1], best[i+1] = c, run{from, i + 1, vars}
			}
		}
	}
	for to := len(sets); to > 0; to = best[to].from {
		list = append(list, best[to])
	}
	slices.Reverse(list)
	return list
}
