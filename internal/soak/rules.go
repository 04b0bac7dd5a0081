package main

import (
	"fmt"
	"slices"
	"strconv"

	"weir/pipeline/domain"
	"weir/schema"
)

// rules draws what is publicly said of columns together. It need not be true of the
// rows: nobody may tell. What no row can keep is left out, since such specs are refused.
func (c chance) rules(w *world) []domain.Constraint {
	d := &domain.Domain{Columns: w.columns}
	forms := []func(*domain.Domain) (domain.Constraint, bool){c.inOrder, c.follows, c.cannotBe, c.counted(w)}
	for range c.within(1, 4) {
		rule, ok := pick(c, forms...)(d)
		if !ok {
			continue
		}
		d.Constraints = append(d.Constraints, rule)
		if len(domain.CheckRules(d, nil)) > 0 {
			d.Constraints = d.Constraints[:len(d.Constraints)-1]
		}
	}
	return d.Constraints
}

// columnsThat lists columns that rules can be about.
func (c chance) columnsThat(d *domain.Domain, fits func(domain.Column) bool) (list []domain.Column) {
	for _, col := range d.Columns {
		if col.Type != domain.Text && fits(col) {
			list = append(list, col)
		}
	}
	c.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func (c chance) inOrder(d *domain.Domain) (rule domain.Constraint, ok bool) {
	list := c.columnsThat(d, isNumber)
	if len(list) < 2 {
		return rule, false
	}
	return domain.Constraint{Order: names(list[:min(len(list), c.within(2, 3))])}, true
}

// follows makes a column a function of a category.
func (c chance) follows(d *domain.Domain) (rule domain.Constraint, ok bool) {
	src, dst := c.columnsThat(d, isCoded), c.columnsThat(d, func(domain.Column) bool { return true })
	if len(src) == 0 || dst[0].Name == src[0].Name {
		return rule, false
	}
	f := domain.Function{Of: src[0].Name, Column: dst[0].Name, Map: map[string]schema.Text{}}
	for _, name := range src[0].Categories {
		f.Map[name] = schema.Text(c.spelled(dst[0]))
	}
	if src[0].Nullable {
		f.Map[domain.MissingWord] = schema.Text(c.spelled(dst[0]))
	}
	return domain.Constraint{Function: &f}, true
}

func (c chance) cannotBe(d *domain.Domain) (rule domain.Constraint, ok bool) {
	list := c.columnsThat(d, func(domain.Column) bool { return true })
	if len(list) < 2 {
		return rule, false
	}
	rule.Impossible = map[string]domain.Choice{}
	for _, col := range list[:min(len(list), c.within(2, 3))] {
		rule.Impossible[col.Name] = domain.Choice{c.spelled(col)}
		if isBounded(col) && c.yes(0.7) {
			rule.Impossible[col.Name] = domain.Choice{fmt.Sprintf("..%g", c.inside(col))}
		}
	}
	return rule, true
}

// counted returns a public total, of as many rows as are public where any are.
func (c chance) counted(w *world) func(*domain.Domain) (domain.Constraint, bool) {
	return func(d *domain.Domain) (rule domain.Constraint, ok bool) {
		list := c.columnsThat(d, isCoded)
		if len(list) == 0 {
			return rule, false
		}
		col, left := list[0], int64(max(w.rowsPublic, c.within(1, 90)))
		values := slices.Clone(col.Categories)
		if w.rowsPublic > 0 {
			left = int64(w.rowsPublic)
		}
		if col.Nullable {
			values = append(values, domain.MissingWord)
		}
		for i, name := range values {
			n := c.Int64N(left + 1)
			if i == len(values)-1 {
				n = left
			}
			left -= n
			rule.Total = append(rule.Total, domain.Cell{Where: map[string]domain.Choice{col.Name: {name}}, Count: n})
		}
		return rule, true
	}
}

// spelled returns a value of a column as a rule spells it.
func (c chance) spelled(col domain.Column) string {
	switch {
	case col.Nullable && c.yes(0.2):
		return domain.MissingWord
	case col.Type.Coded():
		return pick(c, col.Categories...)
	}
	return strconv.FormatFloat(c.inside(col), 'f', -1, 64)
}

// inside returns a value of the column's grid, or any number where it has no bounds.
func (c chance) inside(col domain.Column) float64 {
	if col.Bounds == nil {
		return float64(c.within(-50, 50))
	}
	step := max(col.Step, 1)
	return col.Bounds[0] + float64(step*float64(c.IntN(int((col.Bounds[1]-col.Bounds[0])/step)+1)))
}
