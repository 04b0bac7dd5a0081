package domain

import (
	"fmt"
	"slices"
	"strings"
)

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
		at := r.column(fmt.Sprintf("%s[%d]", path, i), name)
		if at >= 0 && slices.Contains(rule.Columns, at) {
			r.ps.Add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%q, a duplicate column", name), "named once")
		}
		if at >= 0 {
			rule.Columns, f.all = append(rule.Columns, at), append(f.all, AllValues(&r.d.Columns[at]))
			r.comparable(fmt.Sprintf("%s[%d]", path, i), &r.d.Columns[rule.Columns[0]], &r.d.Columns[at])
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
		r.ps.Add(path, fmt.Sprintf("%s, which is %s beside %s, which is %s", b.Name, b.Type, a.Name, a.Type), "columns of one type")
	case a.Type.Coded() && !slices.Equal(a.Categories, b.Categories):
		r.ps.Add(path, b.Name+", whose categories are not those of "+a.Name, "ordinal columns of the same categories")
	}
}
