package domain

import (
	"slices"
)

// search looks for a row that keeps rules. It tries, column by column, points of which
// each stands for the values up to the next (see points); columns in order with each
// other share theirs, so that pushing all values of a row down to points keeps them in
// order. What is found is exact; that there is none is exact too where columns in order
// share a step.
type search struct {
	rules   []*Rule
	columns []int       // places in the domain, in the order of trying
	tries   [][]float64 // by column of the search
	due     [][]int     // rules whose last column it is
	where   [][]int     // by rule, its columns' places in the search
	steps   int         // left
}

// Outcome is what a search has found.
type Outcome int

const (
	NoRow    Outcome = iota
	FoundRow         // and here it is
	MaybeRow         // the search was given up
)

// FindRow looks for a row of d that keeps the rules, with values inside the given sets, by
// place in the domain, in at most so many steps. It gives the row's values by place, and
// what it took: steps, and values that it had to know before the first. The same question
// has the same answer: the least values, column by column.
func FindRow(d *Domain, rules []*Rule, within map[int]Values, steps int) (row map[int]float64, found Outcome,
	took int) {
	s := newSearch(d, rules, within, steps)
	values, found := s.run()
	row = map[int]float64{}
	for i, at := range s.columns {
		row[at] = values[i]
		took += len(s.tries[i])
	}
	for _, sets := range setsOf(rules) {
		took += len(sets)
	}
	return row, found, took + steps - max(s.steps, 0)
}

// newSearch prepares a search for a row of d with values inside the given sets, by place
// in the domain; columns without one may have any.
func newSearch(d *Domain, rules []*Rule, within map[int]Values, steps int) *search {
	s := &search{rules: rules, steps: steps}
	sets := setsOf(rules)
	for _, r := range rules {
		for _, at := range r.Columns {
			if !slices.Contains(s.columns, at) {
				s.columns = append(s.columns, at)
			}
		}
	}
	lists := map[int][]float64{}
	for _, pos := range s.columns {
		mine := sets[pos]
		if w, ok := within[pos]; ok {
			mine = append(mine[:len(mine):len(mine)], w)
		}
		lists[pos] = points(&d.Columns[pos], mine)
	}
	shareOrdered(d, rules, lists)
	s.due = make([][]int, len(s.columns))
	for _, at := range s.columns {
		list := lists[at]
		if w, ok := within[at]; ok {
			list = slices.DeleteFunc(list, func(v float64) bool { return !w.Has(v) })
		}
		s.tries = append(s.tries, list)
	}
	s.link()
	return s
}

// setsOf returns all sets that rules tell apart, by column.
func setsOf(rules []*Rule) map[int][]Values {
	sets := map[int][]Values{}
	for _, r := range rules {
		for i, at := range r.Columns {
			sets[at] = append(sets[at], r.form.sets(i)...)
		}
	}
	return sets
}

// shareOrdered gives columns that are in order with each other the points of all.
func shareOrdered(d *Domain, rules []*Rule, lists map[int][]float64) {
	var ordered []*Rule
	for _, r := range rules {
		if _, ok := r.form.(order); ok {
			ordered = append(ordered, r)
		}
	}
	for _, group := range Components(ordered) {
		var all []float64
		for _, at := range group.Columns {
			all = append(all, lists[at]...)
		}
		for _, pos := range group.Columns {
			c := &d.Columns[pos]
			mine := slices.Clone(lists[pos])
			for _, v := range all {
				if !absent(v) {
					mine = append(mine, gridOf(c).ceil(v))
				}
			}
			lists[pos] = tidy(slices.DeleteFunc(mine, absent), AllValues(c))
		}
	}
}

// link notes when each rule can be judged.
func (s *search) link() {
	for k, r := range s.rules {
		var where []int
		for _, at := range r.Columns {
			where = append(where, slices.Index(s.columns, at))
		}
		s.where = append(s.where, where)
		last := slices.Max(where)
		s.due[last] = append(s.due[last], k)
	}
}

// run gives values by column of the search.
func (s *search) run() ([]float64, Outcome) {
	row := make([]float64, len(s.columns))
	return row, s.try(row, 0)
}

func (s *search) try(row []float64, depth int) Outcome {
	if depth == len(row) {
		return FoundRow
	}
	for _, v := range s.tries[depth] {
		if s.steps--; s.steps < 0 {
			return MaybeRow
		}
		row[depth] = v
		if !s.judged(row, depth) {
			continue
		}
		if p := s.try(row, depth+1); p != NoRow {
			return p
		}
	}
	return NoRow
}

func (s *search) judged(row []float64, depth int) bool {
	values := make([]float64, 0, 4)
	for _, k := range s.due[depth] {
		values = values[:0]
		for _, i := range s.where[k] {
			values = append(values, row[i])
		}
		if !s.rules[k].Keeps(values) {
			return false
		}
	}
	return true
}

// Component is rules that share columns, one with the next, and none with others.
type Component struct {
	Rules   []*Rule
	Columns []int // places in the domain, ascending
}

// Components returns the rules by what they share.
func Components(rules []*Rule) []Component {
	var list []Component
	for _, r := range rules {
		one := Component{Rules: []*Rule{r}, Columns: slices.Clone(r.Columns)}
		list = slices.DeleteFunc(list, func(c Component) bool {
			touches := slices.ContainsFunc(c.Columns, func(at int) bool { return slices.Contains(one.Columns, at) })
			if touches {
				one.Rules, one.Columns = slices.Concat(c.Rules, one.Rules), append(one.Columns, c.Columns...)
			}
			return touches
		})
		slices.Sort(one.Columns)
		one.Columns = slices.Compact(one.Columns)
		list = append(list, one)
	}
	return list
}
