package graphical

import "fmt"

// Marginal is the expected counts of a table over vars, row-major, in rows; they sum
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

// part is a clique's table over some of its columns, its axes by domain.
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
	below []Set // those of vars that are in a clique or below it
}

// top is the lowest clique that has all columns in it or below it.
func (e *elimination) top() int {
	nodes := e.tree.nodes
	for i := len(nodes) - 1; i >= 0; i-- {
		e.below[i] = e.below[i].with(e.vars.and(nodes[i].vars)...)
		if len(e.below[i]) == len(e.vars) {
			return i
		}
		if p := nodes[i].parent; p >= 0 {
			e.below[p] = e.below[p].with(e.below[i]...)
		}
	}
	return 0
}

// joint is the table over keep of a clique and all below it. Only children that have
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
		all = all.with(s...)
	}
	a := e.part(i, nodes[i].vars.and(all))
	for k, c := range children {
		given, err := e.given(c)
		if err != nil {
			return a, err
		}
		rest := keep
		for _, s := range needs[k+2:] {
			rest = rest.with(s...)
		}
		if a, err = e.tree.product(a, given, a.vars.with(given.vars...).and(rest)); err != nil {
			return a, err
		}
	}
	return a, nil
}

// given is the table of the columns below a clique, given its separator.
func (e *elimination) given(c int) (array, error) {
	n := &e.tree.nodes[c]
	joint, err := e.joint(c, e.below[c].with(n.sepVars...))
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
