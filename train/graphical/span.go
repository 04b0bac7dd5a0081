package graphical

import "slices"

// span makes the tree of maximal cliques: a spanning tree of greatest separators,
// from the clique of most cells. It depends on the cliques alone and not on their
// order, so that a tree that is read back draws the same rows.
func span(dom []int, cliques []Set, l Limits) *Tree {
	cliques = slices.Clone(cliques)
	slices.SortFunc(cliques, func(a, b Set) int { return slices.Compare(a, b) })
	root := 0
	for i, c := range cliques {
		if cellsOf(dom, c) > cellsOf(dom, cliques[root]) {
			root = i
		}
	}
	t := &Tree{dom: slices.Clone(dom), limits: l}
	t.place(cliques, spanning(cliques, root), root, -1)
	return t
}

// spanning lists the children of each clique in a spanning tree whose separators hold
// the most columns (Prim).
func spanning(cliques []Set, root int) [][]int {
	children := make([][]int, len(cliques))
	shared, to := make([]int, len(cliques)), make([]int, len(cliques))
	for i := range cliques {
		shared[i], to[i] = len(cliques[i].and(cliques[root])), root
	}
	shared[root] = -1
	for range len(cliques) - 1 {
		next := slices.Index(shared, slices.Max(shared))
		children[to[next]] = append(children[to[next]], next)
		shared[next] = -1
		for i := range cliques {
			if shared[i] < 0 {
				continue
			}
			if n := len(cliques[i].and(cliques[next])); n > shared[i] {
				shared[i], to[i] = n, next
			}
		}
	}
	return children
}

// place adds clique c and those below it, depth first.
func (t *Tree) place(cliques []Set, children [][]int, c, parent int) int {
	at := len(t.nodes)
	n := node{vars: cliques[c], axes: byDomain(t.dom, cliques[c]), cells: int(cellsOf(t.dom, cliques[c])), parent: parent, sepCells: 1}
	if parent >= 0 {
		shared := n.vars.and(t.nodes[parent].vars)
		n.sepVars, n.sep, n.sepCells = shared, byDomain(t.dom, shared), int(cellsOf(t.dom, shared))
		n.above, n.own = partOf(t.dom, t.nodes[parent].axes, shared), partOf(t.dom, n.axes, shared)
	}
	t.nodes = append(t.nodes, n)
	for _, child := range children[c] {
		t.nodes[at].children = append(t.nodes[at].children, t.place(cliques, children, child, at))
	}
	return at
}

// connected reports whether the cliques of every column are connected: a column in k
// cliques is in k-1 separators.
func (t *Tree) connected() bool {
	balance := make([]int, len(t.dom))
	for _, n := range t.nodes {
		for _, c := range n.vars {
			balance[c]++
		}
		for _, c := range n.sep {
			balance[c]--
		}
	}
	return !slices.ContainsFunc(balance, func(b int) bool { return b != 1 })
}
