package domain

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
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
		r.ps.Add(path, fmt.Sprintf("%s with %s of %s %s", what, word(c, v), c.Name, times(n)), "one that has every value once")
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
	holds := make([][][]uint64, len(lists)) // by column and point, the cells that have it
	for i, list := range lists {
		holds[i] = cellsOf(rule, i, list)
	}
	everyCell := make([]uint64, (len(rule.Total)+63)/64)
	for i := range everyCell {
		everyCell[i] = ^uint64(0)
	}
	r.combine(path, rule, lists, holds, everyCell, nil)
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
func (r reader) combine(path string, rule *Rule, lists [][]float64, holds [][][]uint64, cells []uint64, at []float64) (wrong bool) {
	depth := len(at)
	if depth == len(lists) {
		return r.cellCount(path, rule, cells, at)
	}
	c := &r.d.Columns[rule.Columns[depth]]
	for k, v := range lists[depth] {
		if sharedEnd(c, rule.form.sets(depth), v) {
			continue
		}
		left := make([]uint64, len(cells))
		for w := range left {
			left[w] = cells[w] & holds[depth][k][w]
		}
		if r.combine(path, rule, lists, holds, left, append(at[:depth:depth], v)) {
			return true
		}
	}
	return false
}

func (r reader) cellCount(path string, rule *Rule, cells []uint64, at []float64) (wrong bool) {
	n := 0
	for _, w := range cells {
		n += bits.OnesCount64(w)
	}
	if n == 1 {
		return false
	}
	var words []string
	for i, v := range at {
		c := &r.d.Columns[rule.Columns[i]]
		words = append(words, c.Name+" "+word(c, v))
	}
	r.ps.Add(path, fmt.Sprintf("a total with %s %s", strings.Join(words, ", "), times(n)), "one that has every combination of values in one cell")
	return true
}
