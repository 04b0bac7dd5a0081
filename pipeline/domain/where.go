package domain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"weir/schema"
)

// Where is what the values that someone asks for stand for, by the place of their column in
// d. Values that a column never has are problems under path.
func ReadWhere(d *Domain, path string, where map[string]Choice) (map[int]Values, schema.Problems) {
	var ps schema.Problems
	r := reader{d, &ps, true, map[int]map[string]int{}}
	found := map[int]Values{}
	for _, name := range slices.Sorted(maps.Keys(where)) {
		if at := r.column(under(path, name), name); at >= 0 {
			found[at] = r.values(under(path, name), at, where[name])
		}
	}
	return found, ps
}

// Narrowed is a column of which no values but some are left: its categories, its bounds and
// whether any may be missing. A boolean keeps both of its values.
func Narrowed(c Column, left Values) Column {
	c.Nullable = c.Nullable && left.Missing
	switch n := len(left.Ranges); {
	case n == 0 || c.Type == Boolean:
	case c.Type.Coded():
		c.Categories = slices.Collect(func(yield func(string) bool) {
			for code, name := range c.Categories {
				if left.Has(float64(code)) && !yield(name) {
					return
				}
			}
		})
	default:
		all := AllValues(&c).Ranges[0]
		lo, hi := gridOf(&c).from(max(left.Ranges[0].Lo, all.Lo)), min(left.Ranges[n-1].Hi, all.Hi)
		if c.Type != Numeric {
			hi = math.Floor(hi)
		}
		if lo > -math.MaxFloat64 && hi < math.MaxFloat64 {
			c.Bounds = &[2]float64{lo, hi}
		}
	}
	return c
}

// Say words values as a spec spells them, such as ward: [north, east].
func SayWhere(where map[string]Choice) string {
	text := ""
	for i, name := range slices.Sorted(maps.Keys(where)) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s: %v", name, []string(where[name]))
	}
	return text
}
