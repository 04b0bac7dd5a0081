package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/schema"
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

func (r reader) impossible(path string, items map[string]Choice) Rule {
	rule := Rule{}
	var f impossible
	var words []string
	if len(items) < 2 {
		r.ps.Add(path, "of one column", "of two columns or more; what one column cannot hold is left out of its categories "+
			"or bounds")
	}
	for _, name := range slices.Sorted(maps.Keys(items)) {
		if at := r.column(joinPath(path, name), name); at >= 0 {
			rule.Columns = append(rule.Columns, at)
			f.values = append(f.values, r.values(joinPath(path, name), at, items[name]))
			words = append(words, name+" "+short(items[name]))
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

// mostSteps bounds one search while a domain is read, allSteps all of them together;
// what is not found out then is left to the model, which looks at all columns at once.
const (
	mostSteps = 1 << 16
	allSteps  = 1 << 21
)

// Contradictions returns rules that no row can keep together, and totals that differ. What
// takes too long to find out is none.
func Contradictions(d *Domain, rules []Rule) schema.Problems {
	c := contradiction{d: d, steps: allSteps}
	all := make([]*Rule, len(rules))
	for i := range rules {
		all[i] = &rules[i]
	}
	for _, group := range Components(all) {
		if c.none(group.Rules, nil) {
			c.smallest(group.Rules)
			continue
		}
		c.emptyCells(group.Rules)
	}
	c.totals(all)
	return c.ps
}

type contradiction struct {
	d     *Domain
	ps    schema.Problems
	steps int
}

// none tells whether it is sure that no row inside the sets keeps the rules.
func (c *contradiction) none(rules []*Rule, within map[int]Values) bool {
	if !c.pay(rules) {
		return false
	}
	s := newSearch(c.d, rules, within, min(mostSteps, c.steps))
	before := s.steps
	_, found := s.run()
	c.steps = max(0, c.steps-(before-s.steps))
	return found == NoRow
}

// pay takes the cost of preparing a search from what is left.
func (c *contradiction) pay(rules []*Rule) bool {
	for _, sets := range setsOf(rules) {
		c.steps -= len(sets)
	}
	return c.steps > 0
}

// smallest reports rules of which none can be left out of their contradiction.
func (c *contradiction) smallest(rules []*Rule) {
	left := slices.Clone(rules)
	for _, r := range rules {
		without := slices.DeleteFunc(slices.Clone(left), func(one *Rule) bool { return one == r })
		if len(without) > 0 && c.none(without, nil) {
			left = without
		}
	}
	slices.SortFunc(left, func(a, b *Rule) int { return a.Place - b.Place })
	last := left[len(left)-1]
	if len(left) == 1 {
		c.ps.Add(place(last), "a rule that no row can keep", "one that leaves some row possible")
		return
	}
	var others []string
	for _, r := range left[:len(left)-1] {
		others = append(others, place(r))
	}
	c.ps.Add(place(last), "in contradiction with "+strings.Join(others, ", ")+": no row can keep them all",
		"rules that leave some row possible")
}

func place(r *Rule) string { return fmt.Sprintf("constraints[%d]", r.Place) }

// emptyCells reports counts of cells that the other rules leave no row for.
func (c *contradiction) emptyCells(rules []*Rule) {
	for _, r := range rules {
		for i, cell := range r.Total {
			within := map[int]Values{}
			for k, at := range r.Columns {
				within[at] = cell.Values[k]
			}
			if cell.Rows > 0 && len(rules) > 1 && c.none(rules, within) {
				c.ps.Add(fmt.Sprintf("%s.total[%d].count", place(r), i),
					fmt.Sprintf("%d in a cell that the other rules leave empty", cell.Rows), "0, or other rules")
			}
		}
	}
}

// totals compares each two of them: how many rows there are, and where the cells of one
// are made of cells of the other, how many lie in each.
func (c *contradiction) totals(rules []*Rule) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.Total == nil })
	for i, b := range rules {
		for _, a := range rules[:i] {
			if a.Rows() != b.Rows() {
				c.ps.Add(place(b)+".total", fmt.Sprintf("counts that sum to %d", b.Rows()), fmt.Sprintf("the sum of %s.total: %d",
					place(a), a.Rows()))
				continue
			}
			c.cellsWithin(a, b)
			c.cellsWithin(b, a)
		}
	}
}

// cellsWithin compares the cells of b with the cells of a that lie in them.
func (c *contradiction) cellsWithin(a, b *Rule) {
	var places []int // columns of b in a
	for _, column := range b.Columns {
		places = append(places, slices.Index(a.Columns, column))
	}
	if c.steps -= len(a.Total) * len(b.Total); slices.Contains(places, -1) || c.steps < 0 {
		return
	}
	for j, wide := range b.Total {
		least, most := int64(0), int64(0)
		for _, narrow := range a.Total {
			inside, touches := true, true
			for k, i := range places {
				in, meets := c.compare(b.Columns[k], narrow.Values[i], wide.Values[k])
				inside, touches = inside && in, touches && meets
			}
			if inside {
				least += narrow.Rows
			}
			if touches {
				most += narrow.Rows
			}
		}
		if wide.Rows < least || wide.Rows > most {
			c.ps.Add(fmt.Sprintf("%s.total[%d].count", place(b), j), fmt.Sprint(wide.Rows),
				fmt.Sprintf("from %d to %d, by the counts of %s.total", least, most, place(a)))
		}
	}
}

// compare tells whether a lies in b, and whether they have a value in common.
func (c *contradiction) compare(column int, a, b Values) (inside, meets bool) {
	inside = true
	for _, v := range points(&c.d.Columns[column], []Values{a, b}) {
		if a.Has(v) {
			inside, meets = inside && b.Has(v), meets || b.Has(v)
		}
	}
	return inside, meets
}
