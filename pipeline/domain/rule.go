package domain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

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

// TotalCell is one cell of a public total: a set of values for each of the rule's columns.
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

// Keeps tells whether a row keeps the rule: values belong to r.Columns, in their
// order, NaN where one is missing. Of a total it says whether the row's cell may hold any.
func (r *Rule) Keeps(values []float64) bool { return r.form.keeps(values) }

// mostRules bounds the rules of a domain: finding out which of them share columns takes
// the square of their number.
const mostRules = 1000

// CheckRules returns every problem of the rules of a domain as a person wrote it, placed by path,
// such as constraints[0].order[1]: what ReadRules finds; values that a column never has, values
// that a function or a total leaves out or has twice, contradictions. Rules about columns
// of which something is unknown are left out.
func CheckRules(d *Domain, unknown map[string]bool) schema.Problems {
	rules, ps := read(d, true, unknown)
	if len(ps) == 0 {
		ps = Contradictions(d, rules)
	}
	return ps
}

// ReadRules finds the columns and values of the rules of a domain, which may have changed
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
	created := 0
	for _, is := range []bool{len(c.Impossible) > 0, c.Function != nil, len(c.Order) > 0, len(c.Total) > 0} {
		if is {
			created++
		}
	}
	if created != 1 {
		r.ps.Add(path, fmt.Sprintf("a rule with %d of impossible, function, order and total", created),
			"a rule with one of them")
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

// order says that values do not descend; missing ones are in order with all.
type order struct{ all []Values }

func (f order) keeps(values []float64) bool {
	last, any := 0.0, false
	for _, v := range values {
		if absent(v) {
			continue
		}
		if any && v < last {
			return false
		}
		last, any = v, true
	}
	return true
}

func (f order) sets(column int) []Values { return f.all[column : column+1] }

func (r reader) order(path string, names []string) Rule {
	rule := Rule{Label: strings.Join(names, " <= ")}
	var f order
	if len(names) < 2 {
		r.ps.Add(path, "of one column", "two columns or more, least first")
	}
	for i, name := range names {
		pos := r.column(fmt.Sprintf("%s[%d]", path, i), name)
		if pos >= 0 && slices.Contains(rule.Columns, pos) {
			r.ps.Add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%q, a duplicate column", name), "named once")
		}
		if pos >= 0 {
			rule.Columns, f.all = append(rule.Columns, pos), append(f.all, AllValues(&r.d.Columns[pos]))
			r.comparable(fmt.Sprintf("%s[%d]", path, i), &r.d.Columns[rule.Columns[0]], &r.d.Columns[pos])
		}
	}
	rule.form = f
	return rule
}

// comparable refuses columns whose values have no order between them.
func (r reader) comparable(path string, a, b *Column) {
	switch {
	case b.Type == Categorical || b.Type == Boolean:
		r.ps.Add(path, b.Name+", which is "+string(b.Type), "a number, a date or an ordinal column")
	case a.Type != b.Type && (a.Type.Calendar() || b.Type.Calendar()) || a.Type.Coded() != b.Type.Coded():
		r.ps.Add(path, fmt.Sprintf("%s, which is %s beside %s, which is %s", b.Name, b.Type, a.Name, a.Type),
			"columns of one type")
	case a.Type.Coded() && !slices.Equal(a.Categories, b.Categories):
		r.ps.Add(path, b.Name+", whose categories are not those of "+a.Name, "ordinal columns of the same categories")
	}
}

// ReadWhere reads what the values that someone asks for stand for, by the place of their column in
// d. Values that a column never has are problems under path.
func ReadWhere(d *Domain, path string, where map[string]Choice) (map[int]Values, schema.Problems) {
	var ps schema.Problems
	r := reader{d, &ps, true, map[int]map[string]int{}}
	found := map[int]Values{}
	for _, name := range slices.Sorted(maps.Keys(where)) {
		if at := r.column(joinPath(path, name), name); at >= 0 {
			found[at] = r.values(joinPath(path, name), at, where[name])
		}
	}
	return found, ps
}

// Narrowed returns a column of which no values but some are left: its categories, its bounds and
// whether any may be missing. A boolean keeps both of its values.
func Narrowed(c Column, left Values) Column {
	c.Nullable = c.Nullable && left.Missing
	switch n := len(left.Ranges); {
	case n == 0 || c.Type == Boolean:
	case c.Type.Coded():
		c.Categories = slices.Collect(func(yield func(string) bool) {
			for code, name := range c.Categories {
				if left.Has(float64(code)) && !yield(name) {
					return
				}
			}
		})
	default:
		all := AllValues(&c).Ranges[0]
		lo, hi := gridOf(&c).ceil(max(left.Ranges[0].Lo, all.Lo)), min(left.Ranges[n-1].Hi, all.Hi)
		if c.Type != Numeric {
			hi = math.Floor(hi)
		}
		if lo > -math.MaxFloat64 && hi < math.MaxFloat64 {
			c.Bounds = &[2]float64{lo, hi}
		}
	}
	return c
}

// SayWhere words values as a spec spells them, such as ward: [north, east].
func SayWhere(where map[string]Choice) string {
	text := ""
	for i, name := range slices.Sorted(maps.Keys(where)) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s: [%s]", name, schema.Words(where[name]))
	}
	return text
}
