package graphical

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

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
		return nil, errors.New("graphical: cliques: are no junction tree, must be one over the columns")
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
