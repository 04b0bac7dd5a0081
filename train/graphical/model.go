// Package graphical fits a graphical model to noisy marginals of a table and draws
// rows from it: factors over cliques of a junction tree, message passing, estimation
// from tables of unequal noise, masks of impossible cells, sampling with rounding
// by group. It is arithmetic alone: what it reads has its noise already, so whatever
// comes out is post-processing.
//
// Columns are numbered from 0; the domain of column c is its number of codes, which
// are 0 to dom[c]-1. Counts are in rows, logarithms natural. Equal input gives equal
// bits for any number of workers.
package graphical

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
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
	return factor{vars: slices.Clone(vars), axes: byDomain(t.dom, vars), node: node,
		view: partOf(t.dom, t.nodes[node].axes, vars), log: log}
}

// Domain returns the number of codes of each column.
func (m *Model) Domain() []int { return slices.Clone(m.tree.dom) }

// Cliques returns the sets of columns of the junction tree.
func (m *Model) Cliques() []Set { return m.tree.Cliques() }

// Total returns the sum of every table of expected counts, in rows.
func (m *Model) Total() float64 { return m.total }

// LogPartition returns the logarithm of the sum of weights over all rows, forbidden ones
// left out.
func (m *Model) LogPartition() float64 { return m.logZ }

// LogProb returns the logarithm of the probability of a row of codes; -Inf for a row that
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

// place returns the cell of a row in a table over axes.
func place(dom, axes []int, row []uint16) int {
	pos := 0
	for _, c := range axes {
		pos = pos*dom[c] + int(row[c])
	}
	return pos
}

// checkTotal says what is wrong with a number of rows, or nil.
func checkTotal(total float64) error {
	if !(total > 0) || math.IsInf(total, 0) {
		return fmt.Errorf("graphical: total: is %g, must be above 0 and finite", total)
	}
	return nil
}

// Limits bounds the size of a junction tree, in cells of 8 bytes.
type Limits struct {
	Clique, Total int64 // of the largest clique, of all cliques together
}

// DefaultLimits returns 10^6 cells a clique and 5*10^6 in all, which is 40 MB.
func DefaultLimits() Limits { return Limits{Clique: 1_000_000, Total: 5_000_000} }

// maxCells stands for every number of cells that does not fit 63 bits.
const maxCells = 1<<63 - 1

// maxCodes is the largest domain of a column: rows hold codes of 16 bits.
const maxCodes = 1 << 16

// maxColumns and maxParts bound the work that a model read from a file can cause.
const (
	maxColumns = 1 << 12
	maxParts   = 1 << 14 // factors, and masks
)

// cellsOf returns the number of cells of a table over s; maxCells where it is more than
// can be counted.
func cellsOf(dom []int, s []int) int64 {
	cells := uint64(1)
	for _, c := range s {
		high, low := bits.Mul64(cells, uint64(dom[c]))
		if high > 0 || low >= maxCells {
			return maxCells
		}
		cells = low
	}
	return int64(cells)
}

// plus adds cells without passing maxCells.
func plus(a, b int64) int64 {
	if a > maxCells-b {
		return maxCells
	}
	return a + b
}

// check says which clique, or which total, exceeds the limits, or nil.
func (l Limits) check(dom []int, cliques []Set) error {
	total := int64(0)
	l.Clique = min(l.Clique, 1<<31-1) // places within a clique have 32 bits
	for _, c := range cliques {
		cells := cellsOf(dom, c)
		if total = plus(total, cells); cells > l.Clique {
			return fmt.Errorf("graphical: sets: the clique of columns %v has %d cells, must have at most %d", c, cells, l.Clique)
		}
	}
	if total > l.Total {
		return fmt.Errorf("graphical: sets: the junction tree has %d cells, must have at most %d", total, l.Total)
	}
	return nil
}

// checkDomain says what is wrong with a domain, or nil.
func checkDomain(dom []int) error {
	if len(dom) == 0 || len(dom) > maxColumns {
		return fmt.Errorf("graphical: domain: has %d columns, must have from 1 to %d", len(dom), maxColumns)
	}
	var errs []error
	for c, n := range dom {
		if n < 1 || n > maxCodes {
			errs = append(errs, fmt.Errorf("graphical: domain[%d]: is %d, must be from 1 to %d", c, n, maxCodes))
		}
	}
	return errors.Join(errs...)
}

// factors returns those that the fit started from and what it added, one of each set.
func (f *fitting) factors(start []factor) []factor {
	all := slices.Clone(start)
	for _, t := range f.targets {
		all = append(all, f.tree.factor(t.vars, t.log))
	}
	return merged(all)
}

// merged returns the factors with factors of the same set added up.
func merged(all []factor) []factor {
	places, one := map[string]int{}, []factor(nil)
	for _, x := range all {
		key := fmt.Sprint(x.vars)
		i, known := places[key]
		if !known {
			places[key], one = len(one), append(one, x)
			continue
		}
		one[i].log = slices.Clone(one[i].log)
		for k, l := range x.log {
			one[i].log[k] += l
		}
	}
	return one
}

// Grow adds sets to a junction tree one after the other, in their order, and returns
// the indexes of those that it could take within the limits. The tree holds base
// whatever its size. The tree grows in place: a set of one clique changes nothing,
// one that spans two trees becomes a clique, else columns are carried along the path
// between them. NewTree of base and the kept sets, in this order, keeps to the limits
// too. Columns must lie within the domain and ascend in every set.
func Grow(dom []int, base, order []Set, l Limits) []int {
	f := newForest(dom)
	for _, s := range base {
		f.add(s, Limits{Clique: maxCells, Total: maxCells})
	}
	var retained []int
	for i, s := range order {
		if f.add(s, l) {
			retained = append(retained, i)
		}
	}
	return retained
}

// grown returns the cliques of the tree that Grow makes of sets.
func grown(dom []int, sets []Set) []Set {
	f := newForest(dom)
	for _, s := range sets {
		f.add(s, Limits{Clique: maxCells, Total: maxCells})
	}
	return slices.DeleteFunc(f.cliques, func(c Set) bool { return c == nil })
}

// Potentials is a model as it is stored: what FromPotentials needs to make it again,
// bit for bit.
type Potentials struct {
	Domain  []int
	Total   float64
	Cliques []Set
	Factors []Factor
	Masks   []Mask
}

// Potentials returns a model as it is stored.
func (m *Model) Potentials() Potentials {
	p := Potentials{Domain: m.Domain(), Total: m.total, Cliques: m.Cliques(), Masks: cloneMasks(m.masks)}
	for _, f := range m.factors {
		p.Factors = append(p.Factors, Factor{Vars: slices.Clone(f.vars), Log: outward(m.tree.dom, f.vars, f.log)})
	}
	return p
}

// FromPotentials makes a model of what Potentials returned. It takes nothing on trust:
// what is not a model, or exceeds the limits, is an error before memory is taken for it.
func FromPotentials(p Potentials, l Limits) (*Model, error) {
	t, err := p.tree(l)
	if err != nil {
		return nil, err
	}
	if err := t.check(p.Total, nil, p.Masks, p.Factors); err != nil {
		return nil, err
	}
	var factors []factor
	for _, f := range p.Factors {
		factors = append(factors, t.factor(f.Vars, inward(t.dom, f.Vars, f.Log)))
	}
	return newModel(t, p.Total, factors, cloneMasks(p.Masks))
}

// tree returns the junction tree of the cliques, if they have one.
func (p Potentials) tree(l Limits) (*Tree, error) {
	errs := []error{checkDomain(p.Domain)}
	if len(p.Cliques) == 0 || len(p.Cliques) > len(p.Domain) {
		errs = append(errs, fmt.Errorf("graphical: cliques: are %d, must be from 1 to the number of columns", len(p.Cliques)))
	}
	if len(p.Factors) > maxParts || len(p.Masks) > maxParts {
		errs = append(errs, fmt.Errorf("graphical: factors, masks: are %d and %d, must be at most %d each", len(p.Factors),
			len(p.Masks), maxParts))
	}
	for i, c := range p.Cliques {
		errs = append(errs, checkSet(fmt.Sprintf("graphical: cliques[%d]", i), p.Domain, c))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := l.check(p.Domain, p.Cliques); err != nil {
		return nil, err
	}
	t := span(p.Domain, p.Cliques, l)
	if !t.connected() {
		return nil, errors.New("graphical: cliques: are not a junction tree, must be one over the columns")
	}
	return t, nil
}

// mostLog bounds the logarithms of a factor, so that the logarithms of maxParts factors have a sum;
// a fit moves one by a few hundred.
const mostLog = 1e12

func (t *Tree) checkFactor(path string, f Factor) error {
	if err := t.checkPart(path, f.Vars, len(f.Log)); err != nil {
		return err
	}
	for i, x := range f.Log {
		if !(math.Abs(x) <= mostLog) {
			return fmt.Errorf("%s: cell %d is %g, must be between -%g and %g", path, i, x, mostLog, mostLog)
		}
	}
	return nil
}
