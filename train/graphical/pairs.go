package graphical

// EachPair hands on the expected counts of each two columns a < b, row-major, in rows, as Marginal has them. From each
// column in turn the joint counts of it and a separator go through the tree once, so that a long tree costs no more for
// pairs whose cliques lie far apart. A pair that needs a table, or a product, above the bounds of Marginal is left out.
func (m *Model) EachPair(use func(a, b int, table []float64)) {
	w := walk{Model: m, given: map[passage]array{}, use: use}
	for column := range m.tree.dom {
		w.column = column
		w.begin(m.tree.holder(Set{column}))
	}
}

// walk goes from the clique of one column to all others.
type walk struct {
	*Model
	column int
	given  map[passage]array // made once for all columns
	use    func(a, b int, table []float64)
}

// passage is a clique that is entered from a neighbour, and what is wanted of it: the separator to the next, or a
// column.
type passage struct{ node, from, next, column int }

func (w *walk) begin(node int) {
	own := Set{w.column}
	for _, c := range w.tree.nodes[node].vars {
		if c != w.column {
			w.found(c, w.part(node, own.with(c)))
		}
	}
	for _, next := range w.neighbours(node) {
		w.enter(next, node, w.part(node, own.with(w.between(node, next)...)))
	}
}

// enter goes on from a neighbour; joint is over the column and the separator.
func (w *walk) enter(node, from int, joint array) {
	own, sep := Set{w.column}, w.between(from, node)
	for _, c := range w.tree.nodes[node].vars.without(sep) {
		given := w.conditional(passage{node: node, from: from, next: -1, column: c}, sep, Set{c})
		if table, err := w.tree.product(joint, given, own.with(c)); err == nil {
			w.found(c, table)
		}
	}
	for _, next := range w.neighbours(node) {
		if next == from {
			continue
		}
		on := w.between(node, next)
		given := w.conditional(passage{node: node, from: from, next: next, column: -1}, sep, on)
		if table, err := w.tree.product(joint, given, own.with(on...)); err == nil {
			w.enter(next, node, table)
		}
	}
}

// found hands a pair on once, from its lower column.
func (w *walk) found(c int, table array) {
	if w.column < c {
		w.use(w.column, c, outward(w.tree.dom, table.vars, table.cells))
	}
}

// conditional is the table of some columns of a clique, given the separator by which it is entered.
func (w *walk) conditional(p passage, sep, wanted Set) array {
	if a, made := w.given[p]; made {
		return a
	}
	a, inverse := w.part(p.node, sep.with(wanted...)), w.part(p.node, sep).cells
	for k, x := range inverse {
		if x > 0 {
			inverse[k] = 1 / x
		}
	}
	v := partOf(w.tree.dom, byDomain(w.tree.dom, a.vars), sep)
	v.scale(a.cells, inverse)
	w.given[p] = a
	return a
}

func (w *walk) neighbours(node int) []int {
	n := w.tree.nodes[node]
	if n.parent < 0 {
		return n.children
	}
	return append([]int{n.parent}, n.children...)
}

// between is the separator of two neighbours.
func (w *walk) between(a, b int) Set {
	if w.tree.nodes[b].parent == a {
		return w.tree.nodes[b].sepVars
	}
	return w.tree.nodes[a].sepVars
}
