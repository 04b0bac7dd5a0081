package masks

import (
	"fmt"

	"weir/pipeline/domain"
)

// Redraws is how often the values of a row are drawn again inside its bins before they
// are taken from the boundary of what the rules allow.
const Redraws = 32

// mostSteps bounds one search for that boundary. All of them together have startSteps and
// stepsARow for each row: rules may come with a model from anyone, and such as make each
// search long would else hold up a drawing for hours. Rows whose search is out of steps
// have the values of the first row that keeps the rules.
const (
	mostSteps  = 1 << 16
	startSteps = 1 << 22
	stepsARow  = 1 << 8
)

// Placing puts the values of drawn rows where they keep every rule.
type Placing struct {
	domain *domain.Domain
	groups []domain.Component
	safe   []map[int]float64 // by group, the least row that keeps its rules
	steps  int               // left of all searches
}

// NewPlacing prepares it. It is an error, which names rules, that no row is found which
// keeps them.
func NewPlacing(d *domain.Domain, rules []domain.Rule) (*Placing, error) {
	p := &Placing{domain: d, steps: startSteps}
	all := make([]*domain.Rule, len(rules))
	for i := range rules {
		all[i] = &rules[i]
	}
	for _, g := range domain.Components(all) {
		safe, found, _ := domain.FindRow(d, g.Rules, nil, mostSteps)
		if found != domain.FoundRow {
			return nil, unfound(g)
		}
		p.groups, p.safe = append(p.groups, g), append(p.safe, safe)
	}
	return p, nil
}

func unfound(g domain.Component) error {
	r := g.Rules[0]
	return fmt.Errorf("constraints[%d]: is one of %d rules that share columns and of which no row is found that keeps all, in %d steps; must be such that one is", r.Place, len(g.Rules), mostSteps)
}

// Columns are those that rules are about: places in the domain, ascending within a group
// of rules that share columns.
func (p *Placing) Columns() []int {
	var list []int
	for _, g := range p.groups {
		list = append(list, g.Columns...)
	}
	return list
}

// Row is one drawn row: its values by column of the domain (NaN is missing), how a value
// is drawn again inside the row's bin of a column, and which values that bin has.
type Row struct {
	Values []float64
	Draw   func(column int) float64
	Bin    func(column int) domain.Values
}

// Keep changes the values of a row until it keeps every rule: drawn again inside their
// bins, at most Redraws times; else the least values of the bins that keep the rules; else,
// where the bins together hold none, or none is found in time, least values of the domain.
func (p *Placing) Keep(row Row) {
	p.steps = min(p.steps+stepsARow, startSteps)
	for i := range p.groups {
		g := &p.groups[i]
		for n := 0; n < Redraws && p.redraw(g, row); n++ {
		}
		if p.broken(g, row.Values) != nil {
			p.boundary(i, row)
		}
	}
}

// Broken returns the columns of a rule that the values of a row break; nil where they keep all.
func (p *Placing) Broken(values []float64) []int {
	for i := range p.groups {
		if r := p.broken(&p.groups[i], values); r != nil {
			return r.Columns
		}
	}
	return nil
}

// redraw draws the columns of a broken rule again; false where none is broken.
func (p *Placing) redraw(g *domain.Component, row Row) bool {
	r := p.broken(g, row.Values)
	if r == nil {
		return false
	}
	for _, column := range r.Columns {
		row.Values[column] = row.Draw(column)
	}
	return true
}

// broken is the first rule that a row breaks; nil where it keeps all.
func (p *Placing) broken(g *domain.Component, values []float64) *domain.Rule {
	var room [8]float64
	for _, r := range g.Rules {
		mine := room[:0]
		for _, column := range r.Columns {
			mine = append(mine, values[column])
		}
		if !r.Keeps(mine) {
			return r
		}
	}
	return nil
}

func (p *Placing) boundary(group int, row Row) {
	g, within := &p.groups[group], map[int]domain.Values{}
	for _, column := range g.Columns {
		within[column] = row.Bin(column)
	}
	values, found, took := p.safe[group], domain.MaybeRow, 0
	if p.steps > 0 {
		values, found, took = domain.FindRow(p.domain, g.Rules, within, min(mostSteps, p.steps))
	}
	if p.steps -= took; found != domain.FoundRow {
		values = p.safe[group]
	}
	for column, v := range values {
		row.Values[column] = v
	}
}
