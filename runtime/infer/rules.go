package infer

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Bounds of the search for rules between columns.
const (
	rulesOf     = 200 // columns of one kind that are compared, the first ones
	sumsOf      = 100 // numbers of which sums are looked for
	leastRows   = 50  // rows that have to show a rule
	mostRules   = 60  // proposals of rules
	mostOneHot  = 8   // flags of a group that rules are proposed of: their number grows with the square
	mostCarried = 40  // categories of a column that another one may follow from
)

// candidate is a rule that the rows looked at keep.
type candidate struct {
	columns []int
	keeps   func(values []float64) bool // of the columns; NaN is missing
	rule    *domain.Constraint          // nil: the domain has no such rule, and remark says it
	remark  string                      // on the last of the columns
}

// propose looks for rules in the sample, and keeps those that every row keeps.
func (f *finding) propose(ctx context.Context, t pipeline.Table) error {
	if f.sample.len() < leastRows {
		return nil
	}
	s := search{f: f, d: t.Domain}
	s.equals()
	s.orders()
	s.absences()
	s.flags()
	s.functions()
	s.sums()
	retained, err := f.hold(ctx, t, s.found)
	retained = unfollowed(retained)
	f.rules = retained[:min(len(retained), mostRules)]
	f.unproposed = len(retained) - len(f.rules)
	return err
}

// unfollowed leaves out the rules between columns which all follow from one category: the functions of it say them.
func unfollowed(list []*candidate) []*candidate {
	src := map[string][]string{} // what a column follows from
	for _, c := range list {
		if c.rule != nil && c.rule.Function != nil {
			src[c.rule.Function.Column] = append(src[c.rule.Function.Column], c.rule.Function.Of)
		}
	}
	output := func(columns ...string) bool {
		return slices.ContainsFunc(src[columns[0]], func(of string) bool {
			return !slices.ContainsFunc(columns, func(name string) bool { return !slices.Contains(src[name], of) })
		})
	}
	return slices.DeleteFunc(list, func(c *candidate) bool {
		switch {
		case c.rule == nil:
			return false
		case c.rule.Function != nil:
			return output(c.rule.Function.Column, c.rule.Function.Of)
		case len(c.rule.Impossible) > 0:
			return output(slices.Collect(maps.Keys(c.rule.Impossible))...)
		}
		return false
	})
}

// hold returns the candidates that every row keeps, and counts rows by unit on the way.
func (f *finding) hold(ctx context.Context, t pipeline.Table, list []*candidate) ([]*candidate, error) {
	f.perUnit = make([]map[float64]int64, len(f.units))
	for i := range f.perUnit {
		f.perUnit[i] = map[float64]int64{}
	}
	broken := make([]bool, len(list))
	row := func(value func(column int) float64) {
		for i, at := range f.units {
			if v := value(at); v == v {
				f.perUnit[i][v]++
			}
		}
		for i, c := range list {
			broken[i] = broken[i] || !c.holds(value)
		}
	}
	if f.sample.whole() {
		for k := range f.sample.len() {
			row(func(column int) float64 { return f.sample.columns[column][k] })
		}
	} else if err := eachRow(ctx, t, row); err != nil {
		return nil, err
	}
	i := -1
	return slices.DeleteFunc(list, func(*candidate) bool { i++; return broken[i] }), nil
}

func eachRow(ctx context.Context, t pipeline.Table, row func(value func(column int) float64)) error {
	for r, err := range t.Open(ctx) {
		if err != nil {
			return err
		}
		columns := make([]func(int) float64, r.NumCols())
		for i := range columns {
			columns[i] = reading(r.Column(i))
		}
		for k := range int(r.NumRows()) {
			row(func(column int) float64 { return columns[column](k) })
		}
	}
	return nil
}

func (c *candidate) holds(value func(column int) float64) bool {
	values := make([]float64, len(c.columns))
	for i, at := range c.columns {
		values[i] = value(at)
	}
	return c.keeps(values)
}

// search finds candidates in a sample.
type search struct {
	f     *finding
	d     *domain.Domain
	found []*candidate
	same  map[int]bool // columns that are equal to an earlier one
}

// of returns the places of columns that a test admits, at most some, without those that are left out.
func (s *search) of(most int, admit func(*domain.Column) bool) (list []int) {
	for i := range s.d.Columns {
		if c := &s.d.Columns[i]; s.f.profiles[i].reason == "" && c.Type != domain.Text && !s.same[i] && admit(c) &&
			len(list) < most {
			list = append(list, i)
		}
	}
	return list
}

func (s *search) add(rule domain.Constraint) {
	rule.Source = domain.Undecided
	one := s.d.Clone()
	one.Constraints = []domain.Constraint{rule}
	if ps := domain.CheckRules(one, nil); len(ps) > 0 {
		return // such as a rule about a column of one value
	}
	rules, _ := domain.ReadRules(one)
	s.found = append(s.found, &candidate{columns: rules[0].Columns, keeps: rules[0].Keeps, rule: &rule})
}

func (s *search) say(columns []int, keeps func([]float64) bool, format string, args ...any) {
	s.found = append(s.found, &candidate{columns: columns, keeps: keeps, remark: fmt.Sprintf(format, args...)})
}

func (s *search) name(column int) string { return s.d.Columns[column].Name }

// both counts rows in which two columns are there, and says whether all of them keep a test.
func (s *search) both(a, b int, contents func(x, y float64) bool) (rows int, ok bool) {
	xs, ys := s.f.sample.columns[a], s.f.sample.columns[b]
	for i, x := range xs {
		if y := ys[i]; x == x && y == y {
			if rows++; !contents(x, y) {
				return rows, false
			}
		}
	}
	return rows, true
}

// equals finds columns that repeat an earlier one.
func (s *search) equals() {
	s.same = map[int]bool{}
	list := slices.DeleteFunc(s.of(rulesOf, func(c *domain.Column) bool { return !c.Type.Coded() }), s.constant)
	for i, a := range list {
		for _, b := range list[i+1:] {
			equal := func(x, y float64) bool { return x == y }
			if rows, ok := s.both(a, b, equal); ok && rows >= leastRows && !s.same[b] && s.comparable(a, b) {
				s.same[b] = true
				s.say([]int{a, b}, func(v []float64) bool { return v[0] == v[1] || v[0] != v[0] || v[1] != v[1] },
					"equal to %s wherever both are there: leave one of them out (kind drop)", s.name(a))
			}
		}
	}
}

// constant reports whether a column has one value where it has any.
func (s *search) constant(column int) bool {
	first := math.NaN()
	for _, v := range s.f.sample.columns[column] {
		if first != first {
			first = v
		} else if v == v && v != first {
			return false
		}
	}
	return true
}

// orders finds pairs of numbers or of dates of which one is never above the other, though it would be if the pairs were
// dealt anew. What follows from two pairs is not said.
func (s *search) orders() {
	list := s.of(rulesOf, func(c *domain.Column) bool { return !c.Type.Coded() })
	lower := map[[2]int]bool{}
	for _, a := range list {
		for _, b := range list {
			if a != b && s.comparable(a, b) && s.ordered(a, b) {
				lower[[2]int{a, b}] = true
			}
		}
	}
	for _, a := range list {
		for _, b := range list {
			if lower[[2]int{a, b}] && !slices.ContainsFunc(list, func(m int) bool {
				return lower[[2]int{a,
					m}] && lower[[2]int{m, b}]
			}) {
				s.add(domain.Constraint{Order: []string{s.name(a), s.name(b)}})
			}
		}
	}
}

// ordered reports whether a is never above b, and is above the b of other rows in one of twenty.
func (s *search) ordered(a, b int) bool {
	rows, ok := s.both(a, b, func(x, y float64) bool { return x <= y })
	if !ok || rows < leastRows {
		return false
	}
	xs, ys := s.f.sample.columns[a], s.f.sample.columns[b]
	upper, all := 0, 0
	for _, shift := range []int{1, len(xs) / 3, len(xs) / 2} {
		for i, x := range xs {
			if y := ys[(i+shift)%len(ys)]; x == x && y == y {
				if all++; x > y {
					upper++
				}
			}
		}
	}
	return upper*20 >= all
}

// sums finds numbers that are the sum of two others, which need not be positive: dates among them are a day and a
// number of days.
func (s *search) sums() {
	list := s.of(sumsOf, func(c *domain.Column) bool { return !c.Type.Coded() })
	for i, a := range list {
		for _, b := range list[i+1:] {
			for _, c := range list {
				if c != a && c != b && s.dated(a, b, c) && s.summed(a, b, c) {
					s.say([]int{a, b, c}, isSum, "%s + %s wherever all are there: leave it out (kind drop), and compute it from "+
						"the synthetic rows (kind derive)", s.name(a), s.name(b))
				}
			}
		}
	}
}

// comparable reports whether two columns are of one calendar type, or both are numbers.
func (s *search) comparable(a, b int) bool {
	first, second := s.d.Columns[a].Type, s.d.Columns[b].Type
	return first == second || !first.Calendar() && !second.Calendar()
}

// dated reports whether a sum is of numbers, or of one day and a number.
func (s *search) dated(a, b, c int) bool {
	if s.d.Columns[a].Type.Moment() || s.d.Columns[b].Type.Moment() || s.d.Columns[c].Type.Moment() {
		return false
	}
	dates := 0
	for _, at := range []int{a, b} {
		if s.d.Columns[at].Type == domain.Date {
			dates++
		}
	}
	return dates == 0 && s.d.Columns[c].Type != domain.Date || dates == 1 && s.d.Columns[c].Type == domain.Date
}

func isSum(v []float64) bool {
	sum := v[0] + v[1]
	return sum != sum || v[2] != v[2] || math.Abs(v[2]-sum) <= 1e-9*max(1, math.Abs(v[0]), math.Abs(v[1]), math.Abs(v[2]))
}

func (s *search) summed(a, b, c int) bool {
	columns := s.f.sample.columns
	rows, moved := 0, [2]int{} // rows in which each part says something
	for i := range columns[a] {
		x, y, z := columns[a][i], columns[b][i], columns[c][i]
		switch {
		case x != x || y != y || z != z:
			continue
		case !isSum([]float64{x, y, z}):
			return false
		}
		rows++
		for k, part := range []float64{x, y} {
			if part != 0 {
				moved[k]++
			}
		}
	}
	return rows >= leastRows && min(moved[0], moved[1])*20 >= rows
}
