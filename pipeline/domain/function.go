package domain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
)

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

// caseOf is the case of a value; -1 where it has none.
func (f function) caseOf(v float64) int {
	at := len(f.of) - 1
	if !absent(v) {
		at = sort.Search(len(f.of), func(i int) bool { return f.of[i].Missing || f.of[i].Ranges[0].Hi >= v })
	}
	if at < 0 || at == len(f.of) || !f.of[at].Has(v) {
		return -1
	}
	return at
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
		at, known := places[key]
		if !known {
			at = len(f.alike)
			places[key], f.alike = at, append(f.alike, Values{})
		}
		f.alike[at].Ranges, f.alike[at].Missing = append(f.alike[at].Ranges, s.Ranges...), f.alike[at].Missing || s.Missing
	}
}

func (r reader) function(path string, c *Function) Rule {
	of, to := r.column(path+".of", c.Of), r.column(path+".column", c.Column)
	rule := Rule{Label: c.Column + " by " + c.Of, Columns: []int{of, to}}
	if of < 0 || to < 0 {
		return rule
	}
	if of == to {
		r.ps.Add(path+".column", c.Column+", the column that it is a function of", "another column")
	}
	var f function
	before := len(*r.ps)
	for _, key := range slices.Sorted(maps.Keys(c.Map)) {
		at := under(path+".map", key)
		s, ok1 := r.value(at, of, key)
		v, ok2 := r.single(at, to, string(c.Map[key]))
		if ok1 && ok2 {
			f.of, f.to = append(f.of, s), append(f.to, v)
		}
	}
	f.sort()
	f.group()
	rule.form = f
	if len(*r.ps) == before && r.strict {
		r.partition(path+".map", of, f.of, "the map")
	}
	return rule
}

// sort puts low cases first, so that of two ranges the lower one has the end that they
// share.
func (f *function) sort() {
	low := func(s Values) float64 {
		if s.Missing {
			return math.Inf(1)
		}
		return s.Ranges[0].Lo
	}
	by := make([]int, len(f.of))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(low(f.of[a]), low(f.of[b])) })
	old := *f
	*f = function{}
	for _, i := range by {
		f.of, f.to = append(f.of, old.of[i]), append(f.to, old.to[i])
	}
}

// single reads one value, not a range.
func (r reader) single(path string, at int, text string) (Values, bool) {
	s, ok := r.value(path, at, text)
	if ok && len(s.Ranges) == 1 && s.Ranges[0].Lo != s.Ranges[0].Hi {
		r.ps.Add(path, fmt.Sprintf("the range %q", text), "one value of "+r.d.Columns[at].Name)
		return s, false
	}
	return s, ok
}
