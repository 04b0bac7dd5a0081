package domain

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// partition refuses sets of one column that overlap or leave out a value that is not
// missing.
func (r reader) partition(path string, at int, sets []Values, what string) {
	c := &r.d.Columns[at]
	list := points(c, sets)
	for i, n := range holders(list, sets) {
		v := list[i]
		if absent(v) && n == 0 || n == 1 || sharedEnd(c, sets, v) {
			continue
		}
		r.ps.Add(path, fmt.Sprintf("%s in which %s of %s is %s", what, word(c, v), c.Name, times(n)),
			"one that names every value exactly once")
		return
	}
}

// holders counts the sets that hold each point.
func holders(list []float64, sets []Values) []int {
	numbers := len(list)
	if numbers > 0 && absent(list[numbers-1]) {
		numbers--
	}
	counts := make([]int, len(list)+1)
	for _, s := range sets {
		for _, p := range s.Ranges {
			counts[sort.SearchFloat64s(list[:numbers], p.Lo)]++
			counts[sort.SearchFloat64s(list[:numbers], math.Nextafter(p.Hi, math.Inf(1)))]--
		}
	}
	for i := range numbers {
		if i > 0 {
			counts[i] += counts[i-1]
		}
	}
	if numbers < len(list) {
		counts[numbers] = 0
		for _, s := range sets {
			if s.Missing {
				counts[numbers]++
			}
		}
	}
	return counts[:len(list)]
}

func times(n int) string {
	if n == 0 {
		return "left out"
	}
	return fmt.Sprintf("in %d places", n)
}

// mostCombined bounds the work of looking at every cell of a total: combinations of
// points times words of 64 cells.
const mostCombined = 1 << 26

// cells refuses cells of a total that overlap or leave out a combination of values.
func (r reader) cells(path string, rule *Rule) {
	var lists [][]float64
	combined := (len(rule.Total) + 63) / 64
	for i, at := range rule.Columns {
		lists = append(lists, points(&r.d.Columns[at], rule.form.sets(i)))
		if combined *= len(lists[i]); combined > mostCombined {
			r.ps.Add(path, "a total of too many combinations of values to look at", "of fewer columns or wider ranges")
			return
		}
	}
	contents := make([][][]uint64, len(lists)) // by column and point, the cells that have it
	for i, list := range lists {
		contents[i] = cellsOf(rule, i, list)
	}
	everyCell := make([]uint64, (len(rule.Total)+63)/64)
	for i := range everyCell {
		everyCell[i] = ^uint64(0)
	}
	r.combine(path, rule, lists, contents, everyCell, nil)
}

func cellsOf(rule *Rule, column int, list []float64) [][]uint64 {
	out := make([][]uint64, len(list))
	for k, v := range list {
		out[k] = make([]uint64, (len(rule.Total)+63)/64)
		for j := range rule.Total {
			if rule.Total[j].Values[column].Has(v) {
				out[k][j/64] |= 1 << (j % 64)
			}
		}
	}
	return out
}

// combine goes through the points of one column after another and tells the first
// combination that not exactly one cell has.
func (r reader) combine(path string, rule *Rule, lists [][]float64, contents [][][]uint64, cells []uint64,
	places []float64) (wrong bool) {
	depth := len(places)
	if depth == len(lists) {
		return r.cellCount(path, rule, cells, places)
	}
	c := &r.d.Columns[rule.Columns[depth]]
	for k, v := range lists[depth] {
		if sharedEnd(c, rule.form.sets(depth), v) {
			continue
		}
		left := make([]uint64, len(cells))
		for w := range left {
			left[w] = cells[w] & contents[depth][k][w]
		}
		if r.combine(path, rule, lists, contents, left, append(places[:depth:depth], v)) {
			return true
		}
	}
	return false
}

func (r reader) cellCount(path string, rule *Rule, cells []uint64, places []float64) (wrong bool) {
	n := 0
	for _, w := range cells {
		n += bits.OnesCount64(w)
	}
	if n == 1 {
		return false
	}
	var words []string
	for i, v := range places {
		c := &r.d.Columns[rule.Columns[i]]
		words = append(words, c.Name+" "+word(c, v))
	}
	r.ps.Add(path, fmt.Sprintf("a total with %s %s", strings.Join(words, ", "), times(n)),
		"one that has every combination of values in one cell")
	return true
}

// points returns values of a column of which each stands for those up to the next: the
// least of all, and where one of the sets begins or has ended. Whatever the sets tell
// apart, two values with no point between them lie in the same ones. Missing is the
// last, as NaN, where the column can be missing.
func points(c *Column, sets []Values) []float64 {
	all, g := AllValues(c), gridOf(c)
	list := []float64{g.ceil(all.Ranges[0].Lo)}
	for _, s := range sets {
		for _, p := range s.Ranges {
			list = append(list, g.ceil(p.Lo), g.after(p.Hi))
		}
	}
	return tidy(list, all)
}

// tidy sorts points, each once, inside all.
func tidy(list []float64, all Values) []float64 {
	list = slices.DeleteFunc(list, func(v float64) bool { return v < all.Ranges[0].Lo || v > all.Ranges[0].Hi })
	slices.Sort(list)
	list = slices.Compact(list)
	if all.Missing {
		list = append(list, math.NaN())
	}
	return list
}

// sharedEnd tells whether v is where one range of numbers without a step ends and
// another begins, as in 0..15 and 15..30; then the first of them has it.
func sharedEnd(c *Column, sets []Values, v float64) bool {
	if gridOf(c).step > 0 {
		return false
	}
	ends, begins := false, false
	for _, s := range sets {
		for _, p := range s.Ranges {
			ends, begins = ends || p.Hi == v && p.Lo < v, begins || p.Lo == v && p.Hi > v
		}
	}
	return ends && begins
}

// word returns how a spec spells a value.
func word(c *Column, v float64) string {
	switch {
	case absent(v):
		return MissingWord
	case c.Type.Coded():
		return c.Categories[int(v)]
	case c.Type.Moment():
		return c.Show(v)
	}
	return strconv.FormatFloat(v, 'g', 9, 64)
}

// Edges returns where the values of a column begin to be told apart by rules that are about
// sets of values: the least value of each part but the first, ascending. Bins that are cut
// there hold values of one part each.
func Edges(d *Domain, rules []Rule, column int) []float64 {
	sets := setsAbout(rules, column)
	if list := points(&d.Columns[column], sets); len(list) > 1 && !absent(list[len(list)-1]) {
		return list[1:]
	} else if len(list) > 2 {
		return list[1 : len(list)-1]
	}
	return nil
}

// Parts numbers the categories of a column, missing last where it may be, alike where
// rules about sets of values do not tell them apart.
func Parts(d *Domain, rules []Rule, column int) []int {
	c := &d.Columns[column]
	n := len(c.Categories)
	if c.Type == Boolean {
		n = 2
	}
	retained := make([][]byte, n+1) // the sets that hold each category
	for i, s := range setsAbout(rules, column) {
		for _, p := range s.Ranges {
			for code := max(int(p.Lo), 0); code <= min(int(p.Hi), n-1); code++ {
				retained[code] = binary.AppendUvarint(retained[code], uint64(i))
			}
		}
		if s.Missing {
			retained[n] = binary.AppendUvarint(retained[n], uint64(i))
		}
	}
	numbers, parts := map[string]int{}, make([]int, n+1)
	for code, h := range retained {
		if _, known := numbers[string(h)]; !known {
			numbers[string(h)] = len(numbers)
		}
		parts[code] = numbers[string(h)]
	}
	return parts
}

// setsAbout returns the sets of values of a column that rules tell apart.
func setsAbout(rules []Rule, column int) (sets []Values) {
	for i := range rules {
		if at := slices.Index(rules[i].Columns, column); at >= 0 {
			sets = append(sets, rules[i].form.sets(at)...)
		}
	}
	return sets
}
