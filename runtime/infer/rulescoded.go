package infer

import (
	"maps"
	"slices"
	"strconv"

	"weir/pipeline/domain"
	"weir/schema"
)

// absences finds columns that are missing in all rows in which another has some values, and in few others: how long a
// pregnancy lasts where there is none.
func (s *search) absences() {
	created := s.of(rulesOf, func(c *domain.Column) bool { return true })
	for _, b := range s.of(rulesOf, func(c *domain.Column) bool { return c.Nullable }) {
		best, where, most := -1, []float64(nil), 0
		for _, a := range created {
			if a == b {
				continue
			}
			if values, rows := s.absent(a, b); rows > most {
				best, where, most = a, values, rows
			}
		}
		if best >= 0 {
			s.add(domain.Constraint{Impossible: map[string]domain.Choice{s.name(best): s.spelled(best, where),
				s.name(b): s.any(b)}})
		}
	}
}

// absent returns the values of a beside which b is never there, and in how many rows; none where they are not a third
// of the rows without b, or b is missing in most other rows too. Of a number 0 alone may be such a value.
func (s *search) absent(a, b int) (values []float64, rows int) {
	code := func(x float64) int { return int(x) }
	including, excluded := make([]int, max(1, len(s.d.Columns[a].Categories))), make([]int, max(1,
		len(s.d.Columns[a].Categories)))
	if !s.d.Columns[a].Type.Coded() {
		code = func(x float64) int {
			if x == 0 {
				return 0
			}
			return -1
		}
	}
	missing, there := 0, 0
	xs, ys := s.f.sample.columns[a], s.f.sample.columns[b]
	for i, x := range xs {
		list, n := including, &there
		if ys[i] != ys[i] {
			list, n = excluded, &missing
		}
		*n++
		if x == x && code(x) >= 0 {
			list[code(x)]++
		}
	}
	for at, n := range excluded {
		if including[at] == 0 && n >= leastRows/5 {
			values, rows = append(values, float64(at)), rows+n
		}
	}
	if rows < leastRows || rows*3 < missing || there < leastRows || there < missing-rows {
		return nil, 0
	}
	return values, rows
}

// spelled returns values of a column as rules spell them.
func (s *search) spelled(column int, values []float64) (list domain.Choice) {
	for _, v := range values {
		list = append(list, s.show(column, v))
	}
	return list
}

func (s *search) show(column int, v float64) string {
	c := &s.d.Columns[column]
	switch {
	case c.Type.Coded():
		return c.Categories[int(v)]
	case c.Type.Calendar():
		return c.Show(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// any returns every value of a column but missing.
func (s *search) any(column int) domain.Choice {
	if c := &s.d.Columns[column]; c.Type.Coded() {
		return domain.Choice(slices.Clone(c.Categories))
	}
	return domain.Choice{".."}
}

// flags finds groups of flags of which each row has one: a category that was written as columns.
func (s *search) flags() {
	left := s.of(rulesOf, flag)
	for len(left) > 1 {
		group := s.group(left)
		if s.single(group) {
			s.oneHot(group)
			left = slices.DeleteFunc(left, func(at int) bool { return slices.Contains(group, at) })
		} else {
			left = left[1:]
		}
	}
}

// flag reports whether a column says yes or no of every row.
func flag(c *domain.Column) bool {
	return !c.Nullable && len(c.Categories) == 2 && (c.Type == domain.Boolean || slices.Equal(c.Categories,
		domain.Categories{"0", "1"}))
}

// group takes the first flag, and each later one that no row has beside one of the group.
func (s *search) group(flags []int) (group []int) {
	for _, pos := range flags {
		if !slices.ContainsFunc(group, func(other int) bool {
			_, disjoint := s.both(pos, other, func(x, y float64) bool { return x+y < 2 })
			return !disjoint
		}) {
			group = append(group, pos)
		}
	}
	return group
}

// single reports whether each row has exactly one of several flags, and each of them has rows.
func (s *search) single(group []int) bool {
	rows, seen := s.f.sample.len(), make([]int, len(group))
	for k := range rows {
		n := 0
		for i, at := range group {
			if s.f.sample.columns[at][k] == 1 {
				n, seen[i] = n+1, seen[i]+1
			}
		}
		if n != 1 {
			return false
		}
	}
	return len(group) > 1 && slices.Min(seen) > 0
}

// oneHot proposes that each row has exactly one flag of a group: never two, and never none.
func (s *search) oneHot(group []int) {
	if len(group) > mostOneHot {
		one := func(v []float64) bool {
			n := 0.0
			for _, x := range v {
				n += x
			}
			return n == 1
		}
		s.say(group, one, "the last of %d flags from %s on of which each row has one: they are one category, and a column "+
			"of it serves models better", len(group), s.name(group[0]))
		return
	}
	none := map[string]domain.Choice{}
	for i, a := range group {
		none[s.name(a)] = s.spelled(a, []float64{0})
		for _, b := range group[i+1:] {
			if len(group) > 2 {
				s.add(domain.Constraint{Impossible: map[string]domain.Choice{s.name(a): s.spelled(a, []float64{1}),
					s.name(b): s.spelled(b, []float64{1})}})
			}
		}
	}
	if len(group) == 2 { // one is the other's opposite
		a, b := group[0], group[1]
		s.add(domain.Constraint{Function: &domain.Function{Of: s.name(a), Column: s.name(b),
			Map: map[string]schema.Text{s.show(a, 0): schema.Text(s.show(b, 1)), s.show(a, 1): schema.Text(s.show(b, 0))}}})
		return
	}
	s.add(domain.Constraint{Impossible: none})
}

// functions finds columns whose value follows from the category of another, such as years of schooling from a degree.
// Of two flags equals and flags say what there is to say.
func (s *search) functions() {
	filled := func(c *domain.Column) bool { return !c.Nullable }
	follows := map[int]bool{}
	for _, a := range s.of(rulesOf, func(c *domain.Column) bool {
		return filled(c) && c.Type.Coded() && len(c.Categories) > 1 && len(c.Categories) <= mostCarried
	}) {
		for _, b := range s.of(rulesOf, filled) {
			if a == b || follows[a] || follows[b] || flag(&s.d.Columns[a]) && flag(&s.d.Columns[b]) {
				continue
			}
			if to := s.function(a, b); to != nil {
				follows[b] = true
				s.add(domain.Constraint{Function: &domain.Function{Of: s.name(a), Column: s.name(b), Map: to}})
			}
		}
	}
}

// function returns the value of b for each category of a, nil where rows have several, or few rows say it.
func (s *search) function(a, b int) map[string]schema.Text {
	dst, rows, values := map[float64]float64{}, map[float64]int{}, map[float64]int{}
	xs, ys := s.f.sample.columns[a], s.f.sample.columns[b]
	for i, x := range xs {
		if v, known := dst[x]; known && v != ys[i] {
			return nil
		}
		dst[x] = ys[i]
		rows[x]++
		values[ys[i]]++
	}
	common := slices.Max(slices.Collect(maps.Values(values)))
	if len(dst) != len(s.d.Columns[a].Categories) || len(xs)-common < leastRows/2 {
		return nil
	}
	shown := map[string]schema.Text{}
	for x, v := range dst {
		if rows[x] < leastRows/10 {
			return nil
		}
		shown[s.show(a, x)] = schema.Text(s.show(b, v))
	}
	return shown
}
