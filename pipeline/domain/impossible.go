package domain

import (
	"maps"
	"slices"
	"strings"
)

// impossible is a combination that no row has.
type impossible struct{ values []Values }

func (f impossible) keeps(values []float64) bool {
	for i, s := range f.values {
		if !s.Has(values[i]) {
			return true
		}
	}
	return false
}

func (f impossible) sets(column int) []Values { return f.values[column : column+1] }

func (r reader) impossible(path string, of map[string]Choice) Rule {
	rule := Rule{}
	var f impossible
	var words []string
	if len(of) < 2 {
		r.ps.Add(path, "of one column", "of two columns or more; what one column cannot hold is left out of its categories or bounds")
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if at := r.column(under(path, name), name); at >= 0 {
			rule.Columns = append(rule.Columns, at)
			f.values = append(f.values, r.values(under(path, name), at, of[name]))
			words = append(words, name+" "+short(of[name]))
		}
	}
	rule.Label, rule.form = "no "+strings.Join(words, " with "), f
	return rule
}

// short words a choice in a few characters.
func short(choice Choice) string {
	const most = 3
	if len(choice) > most {
		return strings.Join(choice[:most], "|") + "|..."
	}
	return strings.Join(choice, "|")
}
