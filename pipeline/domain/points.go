package domain

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// points are values of a column of which each stands for those up to the next: the
// least of all, and where one of the sets begins or has ended. Whatever the sets tell
// apart, two values with no point between them lie in the same ones. Missing is the
// last, as NaN, where the column can be missing.
func points(c *Column, sets []Values) []float64 {
	all, g := AllValues(c), gridOf(c)
	list := []float64{g.from(all.Ranges[0].Lo)}
	for _, s := range sets {
		for _, p := range s.Ranges {
			list = append(list, g.from(p.Lo), g.after(p.Hi))
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

// word is how a spec spells a value.
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

// Edges are where the values of a column begin to be told apart by rules that are about
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
	held := make([][]byte, n+1) // the sets that hold each category
	for i, s := range setsAbout(rules, column) {
		for _, p := range s.Ranges {
			for code := max(int(p.Lo), 0); code <= min(int(p.Hi), n-1); code++ {
				held[code] = binary.AppendUvarint(held[code], uint64(i))
			}
		}
		if s.Missing {
			held[n] = binary.AppendUvarint(held[n], uint64(i))
		}
	}
	numbers, parts := map[string]int{}, make([]int, n+1)
	for code, h := range held {
		if _, known := numbers[string(h)]; !known {
			numbers[string(h)] = len(numbers)
		}
		parts[code] = numbers[string(h)]
	}
	return parts
}

// setsAbout are the sets of values of a column that rules tell apart.
func setsAbout(rules []Rule, column int) (sets []Values) {
	for i := range rules {
		if at := slices.Index(rules[i].Columns, column); at >= 0 {
			sets = append(sets, rules[i].form.sets(at)...)
		}
	}
	return sets
}
