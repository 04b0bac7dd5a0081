package graphical

import (
	"errors"
	"math"
	"slices"

	"weir/internal/bitmath"
)

// newModel calibrates factors and masks on a tree: beliefs that agree on separators,
// and the logarithm of the partition function. Masks that leave no row are an error.
func newModel(t *Tree, total float64, factors []factor, masks []Mask) (*Model, error) {
	m := t.blank(factors, masks)
	m.total = total
	if m.collect(); math.IsInf(m.logZ, -1) {
		return nil, errors.New("graphical: masks: together forbid every row, must allow at least one")
	}
	m.distribute()
	return m, nil
}

// blank holds the sums of the factors' logarithms in place of beliefs.
func (t *Tree) blank(factors []factor, masks []Mask) *Model {
	m := &Model{tree: t, factors: factors, masks: masks}
	m.beliefs, m.seps = make([][]float64, len(t.nodes)), make([][]float64, len(t.nodes))
	for i, n := range t.nodes {
		m.beliefs[i], m.seps[i] = make([]float64, n.cells), make([]float64, n.sepCells)
	}
	for i := range t.nodes {
		m.weighted(i)
	}
	for _, mask := range masks {
		m.forbid(mask)
	}
	return m
}

// weighted adds the logarithms of a clique's factors: the factors of a run in a table of their columns first.
func (m *Model) weighted(node int) {
	var ownValue []factor
	var sets []Set
	for _, f := range m.factors {
		if f.node == node {
			ownValue, sets = append(ownValue, f), append(sets, f.vars)
		}
	}
	n := &m.tree.nodes[node]
	for _, r := range m.tree.runs(node, sets) {
		if r.to == r.from+1 {
			ownValue[r.from].view.add(m.beliefs[node], ownValue[r.from].log)
			continue
		}
		v, axes := partOf(m.tree.dom, n.axes, r.vars), byDomain(m.tree.dom, r.vars)
		sum := make([]float64, v.cells)
		for _, f := range ownValue[r.from:r.to] {
			inner := partOf(m.tree.dom, axes, f.vars)
			inner.add(sum, f.log)
		}
		v.add(m.beliefs[node], sum)
	}
}

// forbid sets the logarithms of a mask's cells to -Inf, in the smallest clique.
func (m *Model) forbid(mask Mask) {
	if !slices.Contains(mask.Forbidden, true) {
		return
	}
	log := make([]float64, len(mask.Forbidden))
	for i, no := range inward(m.tree.dom, mask.Vars, mask.Forbidden) {
		if no {
			log[i] = math.Inf(-1)
		}
	}
	f := m.tree.factor(mask.Vars, log)
	f.view.add(m.beliefs[f.node], log)
}

// collect turns logarithms into weights from the leaves to the root. A clique's
// weights are scaled so that the largest of each cell of its separator is 1, however
// small they are beside others; the scale goes up in the message, as a logarithm.
func (m *Model) collect() {
	for i := len(m.tree.nodes) - 1; i >= 0; i-- {
		n := &m.tree.nodes[i]
		if n.parent < 0 {
			whole := newView([]int{n.cells}, []bool{false})
			m.logZ = m.weigh(i, &whole)[0]
			continue
		}
		n.above.add(m.beliefs[n.parent], m.weigh(i, &n.own))
	}
}

// weigh turns a clique's logarithms into weights and returns the logarithms of their
// sums, unscaled, by the cells of a part. The scaled sums go where the sums of the
// separator stand.
func (m *Model) weigh(i int, part *view) []float64 {
	b, sums := m.beliefs[i], m.seps[i]
	scale := make([]float64, part.cells)
	part.greatest(b, scale)
	for k, g := range scale {
		if scale[k] = -g; math.IsInf(g, -1) {
			scale[k] = 0 // nothing is allowed here
		}
	}
	part.add(b, scale)
	for k, x := range b {
		if b[k] = 1; x != 0 { // of a fit's first model all are 0
			b[k] = bitmath.Exp(x)
		}
	}
	part.sum(b, sums)
	for k, s := range sums {
		scale[k] = bitmath.Log(s) - scale[k]
	}
	return scale
}

// distribute scales the root to the total and every other clique to what its parent
// says of their separator. A separator's cell without mass has none below.
func (m *Model) distribute() {
	for i := range m.tree.nodes {
		n, b, sep := &m.tree.nodes[i], m.beliefs[i], m.seps[i]
		if n.parent < 0 {
			by := m.total / sep[0]
			for k := range b {
				b[k] *= by
			}
			sep[0] = m.total
			continue
		}
		fresh := make([]float64, n.sepCells)
		n.above.sum(m.beliefs[n.parent], fresh)
		for k, old := range sep {
			sep[k] = 0
			if old > 0 {
				sep[k] = fresh[k] / old
			}
		}
		n.own.scale(b, sep)
		copy(sep, fresh)
	}
}
