package graphical

import (
	"fmt"
	"math"
	"slices"
)

// Model is a distribution of rows: the product of factors over the cliques of a
// junction tree, zero on forbidden cells. It holds the expected counts of every
// clique, 8 bytes a cell. It is not changed by use.
type Model struct {
	tree    *Tree
	total   float64
	factors []factor
	masks   []Mask
	beliefs [][]float64 // expected counts of each clique, which sum to total
	seps    [][]float64 // and of the separator above it
	logZ    float64
}

// factor is a Factor within the clique that holds it, its axes in that clique's order.
type factor struct {
	vars Set
	axes []int
	node int
	view view
	log  []float64
}

func (t *Tree) factor(vars Set, log []float64) factor {
	node := t.holder(vars)
	return factor{vars: slices.Clone(vars), axes: byDomain(t.dom, vars), node: node, view: partOf(t.dom, t.nodes[node].axes, vars), log: log}
}

// Domain is the number of codes of each column.
func (m *Model) Domain() []int { return slices.Clone(m.tree.dom) }

// Cliques are the sets of columns of the junction tree.
func (m *Model) Cliques() []Set { return m.tree.Cliques() }

// Total is the sum of every table of expected counts, in rows.
func (m *Model) Total() float64 { return m.total }

// LogPartition is the logarithm of the sum of weights over all rows, forbidden ones
// left out.
func (m *Model) LogPartition() float64 { return m.logZ }

// LogProb is the logarithm of the probability of a row of codes; -Inf for a row that
// is forbidden or lies outside the domain.
func (m *Model) LogProb(row []uint16) float64 {
	if len(row) != len(m.tree.dom) {
		return math.Inf(-1)
	}
	for c, code := range row {
		if int(code) >= m.tree.dom[c] {
			return math.Inf(-1)
		}
	}
	for _, mask := range m.masks {
		if mask.Forbidden[place(m.tree.dom, mask.Vars, row)] {
			return math.Inf(-1)
		}
	}
	sum := -m.logZ
	for _, f := range m.factors {
		sum += f.log[place(m.tree.dom, f.axes, row)]
	}
	return sum
}

// place is the cell of a row in a table over axes.
func place(dom, axes []int, row []uint16) int {
	at := 0
	for _, c := range axes {
		at = at*dom[c] + int(row[c])
	}
	return at
}

// checkTotal says what is wrong with a number of rows, or nil.
func checkTotal(total float64) error {
	if !(total > 0) || math.IsInf(total, 0) {
		return fmt.Errorf("graphical: total: is %g, must be above 0 and finite", total)
	}
	return nil
}
