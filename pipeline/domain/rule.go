package domain

import (
	"fmt"
	"math"
	"slices"
	"weir/schema"
)

// Rule is one constraint of a domain, its columns and values found.
type Rule struct {
	Place   int    // in the list of the domain
	Label   string // what it says, unique in its domain, such as "admission <= discharge"
	Doc     string
	Columns []int       // places in the domain, as Constraint.Columns orders them
	Total   []TotalCell // of a total: its cells
	form    form
}

// Count is one cell of a public total: a set of values for each of the rule's columns.
type TotalCell struct {
	Values []Values
	Rows   int64
}

// form is what the forms of rules differ in.
type form interface {
	// keeps tells whether a row with these values of the rule's columns keeps the rule.
	keeps(values []float64) bool
	// sets are the sets of values that the rule tells apart, by column of the rule.
	sets(column int) []Values
}

// Keeps tells whether a row keeps the rule: values are those of r.Columns, in their
// order, NaN where one is missing. Of a total it says whether the row's cell may hold any.
func (r *Rule) Keeps(values []float64) bool { return r.form.keeps(values) }

// mostRules bounds the rules of a domain: finding out which of them share columns takes
// the square of their number.
const mostRules = 1000

// Check is every problem of the rules of a domain as a person wrote it, placed by path,
// such as constraints[0].order[1]: what Read finds; values that a column never has, values
// that a function or a total leaves out or has twice, contradictions. Rules about columns
// of which something is unknown are left out.
func CheckRules(d *Domain, unknown map[string]bool) schema.Problems {
	rules, ps := read(d, true, unknown)
	if len(ps) == 0 {
		ps = Contradictions(d, rules)
	}
	return ps
}

// Read finds the columns and values of the rules of a domain, which may have changed
// since it was checked: a stage may have narrowed bounds, or filled what was missing. A
// rule with a problem is left out.
func ReadRules(d *Domain) ([]Rule, schema.Problems) { return read(d, false, nil) }

func read(d *Domain, strict bool, unknown map[string]bool) ([]Rule, schema.Problems) {
	var ps schema.Problems
	var rules []Rule
	if n := len(d.Constraints); n > mostRules {
		ps.Add("constraints", fmt.Sprintf("%d rules", n), fmt.Sprintf("at most %d", mostRules))
		return nil, ps
	}
	labels, codes := map[string]int{}, map[int]map[string]int{}
	for i := range d.Constraints {
		if slices.ContainsFunc(d.Constraints[i].Columns(), func(name string) bool { return unknown[name] }) {
			continue
		}
		before, path := len(ps), fmt.Sprintf("constraints[%d]", i)
		r := reader{d, &ps, strict, codes}.rule(path, &d.Constraints[i])
		if len(ps) > before {
			continue
		}
		r.Place, r.Doc = i, d.Constraints[i].Doc
		if labels[r.Label]++; labels[r.Label] > 1 {
			ps.Add(path, "the rule "+r.Label+" again", "listed once")
			continue
		}
		rules = append(rules, r)
	}
	return rules, ps
}

// rule reads one constraint, of exactly one form.
func (r reader) rule(path string, c *Constraint) Rule {
	given := 0
	for _, is := range []bool{len(c.Impossible) > 0, c.Function != nil, len(c.Order) > 0, len(c.Total) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		r.ps.Add(path, fmt.Sprintf("a rule with %d of impossible, function, order and total", given), "a rule with one of them")
		return Rule{}
	}
	switch {
	case c.Function != nil:
		return r.function(path+".function", c.Function)
	case len(c.Order) > 0:
		return r.order(path+".order", c.Order)
	case len(c.Total) > 0:
		return r.total(path+".total", c.Total)
	}
	return r.impossible(path+".impossible", c.Impossible)
}

// absent tells whether a value is missing.
func absent(v float64) bool { return math.IsNaN(v) }
