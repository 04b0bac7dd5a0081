package graphical

import (
	"fmt"
	"slices"
)

// Marginal returns the expected counts of a table over vars, row-major, in rows; they sum
// to the total. A table within a clique is read off it; any other is found by
// elimination, and one that needs a table of more cells than a tree may have, or than
// 10^6 where that is more, is an error.
func (m *Model) Marginal(vars Set) ([]float64, error) {
	t := m.tree
	if err := checkSet("graphical: vars", t.dom, vars); err != nil {
		return nil, err
	}
	if n := t.holder(vars); n >= 0 {
		return outward(t.dom, vars, m.part(n, vars).cells), nil
	}
	e := elimination{Model: m, vars: vars, below: make([]Set, len(t.nodes))}
	joint, err := e.joint(e.top(), vars)
	if err != nil {
		return nil, fmt.Errorf("graphical: vars: %v: %w", vars, err)
	}
	return t.laid(joint, vars).cells, nil
}

// part returns a clique's table over some of its columns, its axes by domain.
func (m *Model) part(node int, vars Set) array {
	v := partOf(m.tree.dom, m.tree.nodes[node].axes, vars)
	a := array{vars: vars, axes: byDomain(m.tree.dom, vars), cells: make([]float64, v.cells)}
	v.sum(m.beliefs[node], a.cells)
	return a
}

// elimination finds a table over columns that no clique holds together.
type elimination struct {
	*Model
	vars  Set
	below []Set // columns of vars that are in a clique or below it
}

// top returns the lowest clique that has all columns in it or below it.
func (e *elimination) top() int {
	nodes := e.tree.nodes
	for i := len(nodes) - 1; i >= 0; i-- {
		e.below[i] = e.below[i].add(e.vars.and(nodes[i].vars)...)
		if len(e.below[i]) == len(e.vars) {
			return i
		}
		if p := nodes[i].parent; p >= 0 {
			e.below[p] = e.below[p].add(e.below[i]...)
		}
	}
	return 0
}

// joint returns the table over keep of a clique and all below it. Only children that have
// columns of the table which are not in their separator have a say.
func (e *elimination) joint(i int, keep Set) (array, error) {
	nodes, needs := e.tree.nodes, []Set{keep}
	var children []int
	for _, c := range nodes[i].children {
		if !e.below[c].within(nodes[c].sepVars) {
			children, needs = append(children, c), append(needs, nodes[c].sepVars)
		}
	}
	all := keep
	for _, s := range needs {
		all = all.add(s...)
	}
	a := e.part(i, nodes[i].vars.and(all))
	for k, c := range children {
		created, err := e.conditional(c)
		if err != nil {
			return a, err
		}
		rest := keep
		for _, s := range needs[k+2:] {
			rest = rest.add(s...)
		}
		if a, err = e.tree.product(a, created, a.vars.add(created.vars...).and(rest)); err != nil {
			return a, err
		}
	}
	return a, nil
}

// conditional returns the table of the columns below a clique, given its separator.
func (e *elimination) conditional(c int) (array, error) {
	n := &e.tree.nodes[c]
	joint, err := e.joint(c, e.below[c].add(n.sepVars...))
	if err != nil {
		return joint, err
	}
	inverse := make([]float64, n.sepCells)
	for k, x := range e.seps[c] {
		if x > 0 {
			inverse[k] = 1 / x
		}
	}
	joint = e.tree.laid(joint, byDomain(e.tree.dom, joint.vars)) // as separators are
	v := partOf(e.tree.dom, joint.axes, n.sepVars)
	v.scale(joint.cells, inverse)
	return joint, nil
}

// EachPair hands on the expected counts of each two columns a < b, row-major, in rows, as Marginal has them. From each
// column in turn, columns of few codes first, the joint counts of it and a separator go through the tree once, so that
// a long tree costs no more for pairs whose cliques lie far apart. A pair that needs a table, or a product, above the
// bounds of Marginal is left out.
func (m *Model) EachPair(use func(a, b int, table []float64)) {
	order := make([]int, len(m.tree.dom))
	for column := range order {
		order[column] = column
	}
	order = byDomain(m.tree.dom, order)
	w := walk{Model: m, given: map[passage]array{}, beyond: map[[2]int]Set{}, use: use}
	for i, column := range order {
		w.column, w.open = column, slices.Sorted(slices.Values(order[i+1:]))
		w.begin(m.tree.smallest(column))
	}
}

// smallest returns the clique of the fewest cells that holds a column.
func (t *Tree) smallest(column int) int {
	best := -1
	for i, n := range t.nodes {
		if n.vars.has(column) && (best < 0 || n.cells < t.nodes[best].cells) {
			best = i
		}
	}
	return best
}

// walk goes from a clique of one column to the cliques of the columns behind it.
type walk struct {
	*Model
	column int
	open   Set               // the columns behind it, which are still to be paired with it
	given  map[passage]array // made once for all columns
	beyond map[[2]int]Set    // columns of a clique and of all that lie behind it, by where it is entered from
	use    func(a, b int, table []float64)
}

// passage is a clique that is entered from a neighbour, and what is wanted of it: the separator to the next, or a
// column.
type passage struct{ node, from, next, column int }

func (w *walk) begin(node int) {
	ownValue := Set{w.column}
	for _, c := range w.tree.nodes[node].vars.and(w.open) {
		w.found(c, w.part(node, ownValue.add(c)))
	}
	for _, next := range w.neighbours(node) {
		if sep := w.separator(node, next); w.worth(next, node, sep) {
			w.enter(next, node, w.part(node, ownValue.add(sep...)))
		}
	}
}

// worth tells whether there is a column to pair behind a separator.
func (w *walk) worth(node, from int, sep Set) bool {
	return len(w.columnsBehind(node, from).minus(sep).and(w.open)) > 0
}

func (w *walk) columnsBehind(node, start int) Set {
	key := [2]int{node, start}
	if set, known := w.beyond[key]; known {
		return set
	}
	set := w.tree.nodes[node].vars
	for _, next := range w.neighbours(node) {
		if next != start {
			set = set.or(w.columnsBehind(next, node))
		}
	}
	w.beyond[key] = set
	return set
}

// enter goes on from a neighbour; joint is over the column and the separator.
func (w *walk) enter(node, start int, joint array) {
	ownValue, sep := Set{w.column}, w.separator(start, node)
	for _, c := range w.tree.nodes[node].vars.minus(sep).and(w.open) {
		given := w.conditional(passage{node: node, from: start, next: -1, column: c}, sep, Set{c})
		if table, err := w.tree.product(joint, given, ownValue.add(c)); err == nil {
			w.found(c, table)
		}
	}
	for _, next := range w.neighbours(node) {
		enabled := w.separator(node, next)
		if next == start || !w.worth(next, node, enabled) {
			continue
		}
		given := w.conditional(passage{node: node, from: start, next: next, column: -1}, sep, enabled)
		if table, err := w.tree.product(joint, given, ownValue.add(enabled...)); err == nil {
			w.enter(next, node, table)
		}
	}
}

// found hands a pair on.
func (w *walk) found(c int, table array) {
	w.use(min(w.column, c), max(w.column, c), w.tree.laid(table, table.vars).cells)
}

// conditional returns the table of some columns of a clique, given the separator by which it is entered.
func (w *walk) conditional(p passage, sep, wanted Set) array {
	if a, made := w.given[p]; made {
		return a
	}
	a := w.part(p.node, sep.add(wanted...))
	inverse := slices.Clone(w.tree.marginalOf(a, sep).cells)
	for k, x := range inverse {
		if x > 0 {
			inverse[k] = 1 / x
		}
	}
	v := partOf(w.tree.dom, a.axes, sep)
	v.scale(a.cells, inverse)
	a = w.tree.laid(a, slices.Concat(sep.and(wanted), sep.minus(wanted), wanted.minus(sep))) // as products have it
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

// separator returns the separator of two neighbours.
func (w *walk) separator(a, b int) Set {
	if w.tree.nodes[b].parent == a {
		return w.tree.nodes[b].sepVars
	}
	return w.tree.nodes[a].sepVars
}
