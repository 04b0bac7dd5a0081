package domain

import (
	"math"
	"sort"
)

// Derived is a column whose every value, missing ones included, follows from the value of one
// other column by a function of the domain: who knows the other knows it.
type Derived struct {
	Column, Of int // places in the domain
	Place      int // of the rule in the list of the domain
	by         function
}

// Value returns the value that follows from one of the column that it is of; NaN is missing,
// on either side. A value between two cases, as the rounding of decimals may leave one,
// has the value of the upper case.
func (x Derived) Value(root float64) float64 {
	pos := x.by.caseOf(root)
	if pos < 0 && !absent(root) {
		pos = min(sort.Search(len(x.by.of), func(i int) bool {
			return x.by.of[i].Missing ||
				x.by.of[i].Ranges[0].Hi >= root
		}),
			len(x.by.of)-1)
	}
	if pos < 0 || len(x.by.to[pos].Ranges) == 0 {
		return math.NaN()
	}
	return x.by.to[pos].Ranges[0].Lo
}

// Values returns how many values there are that follow.
func (x Derived) Values() int { return len(x.by.alike) }

// Derivations returns the columns of d that may be left out of a table and found again, in an
// order in which each is of one that is not left out or of one before it, and the rules
// that say something of the columns that are left. Only columns of which may is true are
// considered. A column is not left out where its function leaves a value open (one that
// may be missing beside any value of the other, or the other's missing values have no
// case), nor where another rule is about it: but for functions of it whose columns are
// left out too, and for rules that every value of the other keeps, such as the way back.
//
// It is a function of the domain alone.
func Derivations(d *Domain, rules []Rule, may func(column int) bool) (list []Derived, rest []Rule) {
	t := derivation{d: d, rules: rules, by: map[int]Derived{}, rule: map[int]int{}}
	for i := range rules {
		if x, ok := determined(d, &rules[i]); ok && may(x.Column) {
			t.take(i, x)
		}
	}
	for t.drop() {
	}
	for i := range rules {
		if !t.uses(i) && !t.implied(&rules[i]) {
			rest = append(rest, rules[i])
		}
	}
	return t.ordered(), rest
}

// derivation is the choice of derived columns under way.
type derivation struct {
	d     *Domain
	rules []Rule
	by    map[int]Derived // by column
	rule  map[int]int     // by column, the rule that it is derived by
}

// determined reads a rule as a function without open values.
func determined(d *Domain, r *Rule) (Derived, bool) {
	f, is := r.form.(function)
	if !is {
		return Derived{}, false
	}
	count, end := r.Columns[0], r.Columns[1]
	all := AllValues(&d.Columns[end])
	if all.Missing && !f.namesMissing() {
		return Derived{}, false
	}
	for _, v := range points(&d.Columns[count], f.of) {
		if at := f.caseOf(v); at < 0 || !single(all, f.to[at]) {
			return Derived{}, false
		}
	}
	return Derived{Column: end, Of: count, Place: r.Place, by: f}, true
}

// single tells whether a set is one value that the column can hold.
func single(all, s Values) bool {
	if len(s.Ranges) == 0 {
		return s.Missing && all.Missing
	}
	return len(s.Ranges) == 1 && !s.Missing && s.Ranges[0].Lo == s.Ranges[0].Hi && all.Has(s.Ranges[0].Lo)
}

// take adds a column, by the first of its functions that leads round no circle.
func (t *derivation) take(rule int, x Derived) {
	if _, known := t.by[x.Column]; known || t.root(x.Of) == x.Column {
		return
	}
	t.by[x.Column], t.rule[x.Column] = x, rule
}

// root returns the column that another follows from, however far: itself where it does not.
func (t *derivation) root(column int) int {
	for x, is := t.by[column]; is; x, is = t.by[column] {
		column = x.Of
	}
	return column
}

// uses tells whether a column is derived by the rule.
func (t *derivation) uses(rule int) bool {
	for _, at := range t.rule {
		if at == rule {
			return true
		}
	}
	return false
}

// drop takes out the columns that a further rule is about; false where there is none.
func (t *derivation) drop() (any bool) {
	for i := range t.rules {
		r := &t.rules[i]
		if t.uses(i) || t.implied(r) {
			continue
		}
		for _, column := range r.Columns {
			if _, is := t.by[column]; is {
				delete(t.by, column)
				delete(t.rule, column)
				any = true
			}
		}
	}
	return any
}

// implied tells whether a rule is about one column and what follows from it, and every
// value of that column keeps it.
func (t *derivation) implied(r *Rule) bool {
	if _, is := r.form.(order); is || r.Total != nil {
		return false // of what sets of values do not tell
	}
	root, derived := t.root(r.Columns[0]), false
	for _, column := range r.Columns {
		if t.root(column) != root {
			return false
		}
		derived = derived || column != root
	}
	if !derived {
		return false
	}
	values := make([]float64, len(r.Columns))
	for _, v := range points(&t.d.Columns[root], t.impliedBy(r, root)) {
		for i, column := range r.Columns {
			values[i] = t.value(column, v)
		}
		if !r.Keeps(values) {
			return false
		}
	}
	return true
}

// impliedBy returns the sets of values of a root that the rule or a function on the way to its
// columns tells apart. Columns that follow have one value on each.
func (t *derivation) impliedBy(r *Rule, root int) (sets []Values) {
	for i, column := range r.Columns {
		if column == root {
			sets = append(sets, r.form.sets(i)...)
		}
		for x, is := t.by[column]; is; x, is = t.by[x.Of] {
			if x.Of == root {
				sets = append(sets, x.by.of...)
			}
		}
	}
	return sets
}

// value returns the value of a column where its root has v.
func (t *derivation) value(column int, v float64) float64 {
	x, is := t.by[column]
	if !is {
		return v
	}
	return x.Value(t.value(x.Of, v))
}

// ordered lists the derived columns, each behind the one that it is of.
func (t *derivation) ordered() (list []Derived) {
	done := map[int]bool{}
	var add func(column int)
	add = func(column int) {
		if x, is := t.by[column]; is && !done[column] {
			done[column] = true
			add(x.Of)
			list = append(list, x)
		}
	}
	for i := range t.rules {
		for _, column := range t.rules[i].Columns {
			add(column)
		}
	}
	return list
}
