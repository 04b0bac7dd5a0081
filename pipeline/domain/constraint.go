package domain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"gopkg.in/yaml.v3"

	"weir/schema"
)

// Constraint is a public rule of the population that a table is about, by one of its
// four forms. Nobody holds real rows to it, since that a row breaks it would tell of
// that row: models that can hold it hold what they release to it, and evaluation counts
// who breaks it. A missing value breaks nothing unless the rule names missing.
type Constraint struct {
	Impossible map[string]Choice `json:"impossible,omitempty" yaml:"impossible,omitempty" doc:"Values by column, of two columns or more: no row has all of them at once."`
	Function   *Function         `json:"function,omitempty" yaml:"function,omitempty" doc:"A column whose value follows from that of another."`
	Order      []string          `json:"order,omitempty" yaml:"order,omitempty" doc:"Numbers, dates or ordinal columns of the same categories, least first, such as [admission, discharge]; equal values and missing ones are in order."`
	Total      []Cell            `json:"total,omitempty" yaml:"total,omitempty" doc:"Public counts of every cell of some columns. A table of another size is held to the shares."`
	Source     string            `json:"source,omitempty" yaml:"source,omitempty" doc:"public, or left out: a person stands behind the rule. UNDECIDED, of a rule that weir domain infer proposes: nobody does yet, and no spec runs."`
	Doc        string            `json:"doc,omitempty" yaml:"doc,omitempty" doc:"Why, or who says so."`
}

// Function says that Column is a function of Of.
type Function struct {
	Column string                 `json:"column" yaml:"column" required:"true" doc:"The column that follows."`
	Of     string                 `json:"of" yaml:"of" required:"true" doc:"The column that it follows from."`
	Map    map[string]schema.Text `json:"map" yaml:"map" required:"true" doc:"The one value of column for each value of the other, all of which are listed: categories as in the file, numbers, ranges such as 0..17 (of the other), and missing."`
}

// Cell is a public count: the rows that have one of the values in every column.
type Cell struct {
	Where map[string]Choice `json:"where" yaml:"where" required:"true" doc:"Values by column; all cells of a total have the same columns."`
	Count int64             `json:"count" yaml:"count" required:"true" min:"0" max:"1000000000000" doc:"Rows of the whole table in this cell." unit:"rows"`
}

// Choice is a set of values of one column, each spelled as the file spells it: a
// category, a number, a range LEAST..GREATEST that holds its ends, either or both of which may be
// left out, or missing. In YAML a single one needs no brackets.
type Choice []string

// UnmarshalYAML reads a value or a list of values.
func (c *Choice) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		*c = Choice{n.Value}
		return nil
	}
	return (*Spellings)(c).UnmarshalYAML(n)
}

// JSONSchema returns a text, number or truth value, or a list of them.
func (Choice) JSONSchema() map[string]any {
	one := []any{"string", "number", "boolean"}
	return map[string]any{"title": "a value, or a list of values", "type": append(one[:3:3], "array"),
		"items": map[string]any{"type": one}}
}

// Columns names the columns that a rule is about, each once: the columns of an order and of a
// function in their order (the column that it is of first), others by name.
func (c *Constraint) Columns() []string {
	switch {
	case c.Function != nil:
		return []string{c.Function.Of, c.Function.Column}
	case len(c.Order) > 0:
		return slices.Clone(c.Order)
	case len(c.Total) > 0:
		return slices.Sorted(maps.Keys(c.Total[0].Where))
	}
	return slices.Sorted(maps.Keys(c.Impossible))
}

// clone returns a copy that shares nothing.
func (c Constraint) clone() Constraint {
	c.Impossible, c.Order, c.Total = choices(c.Impossible), slices.Clone(c.Order), slices.Clone(c.Total)
	for i := range c.Total {
		c.Total[i].Where = choices(c.Total[i].Where)
	}
	if c.Function = copied(c.Function); c.Function != nil {
		c.Function.Map = maps.Clone(c.Function.Map)
	}
	return c
}

func choices(of map[string]Choice) map[string]Choice {
	out := maps.Clone(of)
	for name, values := range out {
		out[name] = slices.Clone(values)
	}
	return out
}

func cloned(list []Constraint) []Constraint {
	out := slices.Clone(list)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// function says that the second value follows from the first. Cases are of one value or
// range each, ascending, missing last.
type function struct {
	of, to []Values
	alike  []Values // the cases of each value that follows
}

// keeps: a missing value breaks nothing, unless the map names missing on its side.
func (f function) keeps(values []float64) bool {
	i := f.caseOf(values[0])
	return i < 0 || f.to[i].Has(values[1]) || absent(values[1]) && !f.namesMissing()
}

// namesMissing tells whether missing is among the values that follow.
func (f function) namesMissing() bool {
	return slices.ContainsFunc(f.to, func(v Values) bool { return v.Missing })
}

// caseOf returns the case of a value; -1 where it has none.
func (f function) caseOf(v float64) int {
	pos := len(f.of) - 1
	if !absent(v) {
		pos = sort.Search(len(f.of), func(i int) bool { return f.of[i].Missing || f.of[i].Ranges[0].Hi >= v })
	}
	if pos < 0 || pos == len(f.of) || !f.of[pos].Has(v) {
		return -1
	}
	return pos
}

func (f function) sets(column int) []Values {
	if column == 0 {
		return f.alike
	}
	return f.to
}

// group puts cases together that have one value.
func (f *function) group() {
	places := map[string]int{}
	for i, s := range f.of {
		key := fmt.Sprint(f.to[i])
		pos, known := places[key]
		if !known {
			pos = len(f.alike)
			places[key], f.alike = pos, append(f.alike, Values{})
		}
		f.alike[pos].Ranges, f.alike[pos].Missing = append(f.alike[pos].Ranges, s.Ranges...), f.alike[pos].Missing ||
			s.Missing
	}
}

func (r reader) function(path string, c *Function) Rule {
	count, end := r.column(path+".of", c.Of), r.column(path+".column", c.Column)
	rule := Rule{Label: c.Column + " by " + c.Of, Columns: []int{count, end}}
	if count < 0 || end < 0 {
		return rule
	}
	if count == end {
		r.ps.Add(path+".column", c.Column+", the column that it is a function of", "another column")
	}
	var f function
	before := len(*r.ps)
	for _, key := range slices.Sorted(maps.Keys(c.Map)) {
		at := joinPath(path+".map", key)
		s, ok1 := r.value(at, count, key)
		v, ok2 := r.single(at, end, string(c.Map[key]))
		if ok1 && ok2 {
			f.of, f.to = append(f.of, s), append(f.to, v)
		}
	}
	f.sort()
	f.group()
	rule.form = f
	if len(*r.ps) == before && r.strict {
		r.partition(path+".map", count, f.of, "the map")
	}
	return rule
}

// sort puts low cases first, so the lower one of two ranges has the end that they
// share.
func (f *function) sort() {
	low := func(s Values) float64 {
		if s.Missing {
			return math.Inf(1)
		}
		return s.Ranges[0].Lo
	}
	keys := make([]int, len(f.of))
	for i := range keys {
		keys[i] = i
	}
	slices.SortStableFunc(keys, func(a, b int) int { return cmp.Compare(low(f.of[a]), low(f.of[b])) })
	old := *f
	*f = function{}
	for _, i := range keys {
		f.of, f.to = append(f.of, old.of[i]), append(f.to, old.to[i])
	}
}

// single reads one value, not a range.
func (r reader) single(path string, pos int, text string) (Values, bool) {
	s, ok := r.value(path, pos, text)
	if ok && len(s.Ranges) == 1 && s.Ranges[0].Lo != s.Ranges[0].Hi {
		r.ps.Add(path, fmt.Sprintf("the range %q", text), "one value of "+r.d.Columns[pos].Name)
		return s, false
	}
	return s, ok
}
