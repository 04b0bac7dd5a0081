package mixture

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"weir/pipeline/domain"
	"weir/schema"
)

// mostRuled is far beyond what anybody writes; a model from a stranger may hold any number.
const mostRuled = 1 << 16

// fix reads the rules of structural. A rule is public knowledge: nobody holds real rows to it,
// and one that breaks it is learned without the columns that are fixed.
func (l *layout) fix(s Shape, d *domain.Domain, ps *schema.Problems) {
	if n := len(s.Structural) * len(l.strata); n > mostRuled {
		ps.Add("structural", fmt.Sprintf("%d rules for %d strata", len(s.Structural), len(l.strata)), fmt.Sprintf("at most %d pairs of a rule and a stratum", mostRuled))
		return
	}
	for i, rule := range s.Structural {
		path := fmt.Sprintf("structural[%d]", i)
		where, wrong := domain.ReadWhere(d, path+".where", rule.Where)
		*ps = append(*ps, wrong...)
		for at := range d.Columns {
			if _, asked := where[at]; asked && !slices.Contains(l.stratify, at) {
				ps.Add(path+".where."+d.Columns[at].Name, "about a column that is not in stratify", "columns of stratify")
			}
		}
		set := l.set(path+".set", rule, d, ps)
		if len(*ps) > 0 {
			continue
		}
		if len(where) == 0 || len(set) == 0 {
			ps.Add(path, "without where or set", "values of columns of stratify, and of columns that have one value there")
		}
		matched := false
		for n := range l.strata {
			if l.strata[n].has(l, where) {
				matched = true
				l.strata[n].take(path, set, d, ps)
			}
		}
		if !matched {
			ps.Add(path+".where", domain.SayWhere(rule.Where)+", of which there is no stratum", "values that columns of stratify have")
		}
	}
}

// set is what a rule sets, by column.
func (l *layout) set(path string, rule Structural, d *domain.Domain, ps *schema.Problems) map[int]fixture {
	set := map[int]fixture{}
	for _, name := range slices.Sorted(maps.Keys(rule.Set)) {
		if c := d.Column(name); c != nil && c.Late {
			ps.Add(path+"."+name, "a column whose bounds are released when the run is under way ("+c.Source+")", "a column with declared bounds, which say which values it has")
			continue
		}
		values, wrong := domain.ReadWhere(d, path, map[string]domain.Choice{name: {string(rule.Set[name])}})
		*ps = append(*ps, wrong...)
		for at, v := range values {
			switch {
			case slices.Contains(l.stratify, at):
				ps.Add(path+"."+name, "a column of stratify", "other columns: a stratum says what these are")
			case v.Missing && len(v.Ranges) == 0:
				set[at] = fixture{cell: l.grids[at].Values()}
			case len(v.Ranges) == 1 && v.Ranges[0].Lo == v.Ranges[0].Hi:
				set[at] = fixture{l.grids[at].Cell(v.Ranges[0].Lo), v.Ranges[0].Lo}
			default:
				ps.Add(path+"."+name, string(rule.Set[name])+", more than one value", "one value")
			}
		}
	}
	return set
}

// has tells whether a stratum has one of the values in every column.
func (s *stratum) has(l *layout, where map[int]domain.Values) bool {
	for i, at := range l.stratify {
		code := float64(s.codes[i])
		if s.codes[i] >= l.grids[at].Values() {
			code = math.NaN()
		}
		if v, asked := where[at]; asked && !v.Has(code) {
			return false
		}
	}
	return true
}

// take fixes columns in a stratum.
func (s *stratum) take(path string, set map[int]fixture, d *domain.Domain, ps *schema.Problems) {
	for _, at := range slices.Sorted(maps.Keys(set)) {
		if old, is := s.fixed[at]; is && old != set[at] {
			ps.Add(path+".set."+d.Columns[at].Name, "another value than an earlier rule sets in the same stratum", "one value in each stratum")
			return
		}
		s.fixed[at] = set[at]
	}
}
