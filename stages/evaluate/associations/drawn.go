package associations

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"weir/stages/internal/columns"
)

// draw bounds the pairs of columns that a measure compares, and says how many there were:
// the time would grow with the square of the columns.
func (r *associationRun) draw(name string, pairs [][2]int) (some [][2]int, note string) {
	if len(pairs) <= r.MaxPairs {
		return pairs, ""
	}
	for i, at := range drawn(len(pairs), r.MaxPairs, r.env.Rand("pairs of "+name)) {
		pairs[i] = pairs[at] // at is never before i
	}
	return pairs[:r.MaxPairs], fmt.Sprintf("over %d of %d pairs of columns, drawn at random", r.MaxPairs, len(pairs))
}

// leftOut names the columns that the covariance goes without: it takes as many as have
// MaxPairs pairs.
func (r *associationRun) leftOut(f *columns.Frame) (names map[string]bool, note string) {
	n, most := len(f.Columns), 2
	for most*(most+1)/2 <= r.MaxPairs {
		most++
	}
	if n <= most {
		return nil, ""
	}
	names = map[string]bool{}
	for i := range f.Columns {
		names[f.Columns[i].Name] = true
	}
	for _, i := range drawn(n, most, r.env.Rand("columns of the covariance")) {
		delete(names, f.Columns[i].Name)
	}
	return names, fmt.Sprintf("over %d of %d columns, drawn at random", most, n)
}

// drawn is k of the numbers below n, in order.
func drawn(n, k int, rng *rand.Rand) []int {
	some := rng.Perm(n)[:k]
	slices.Sort(some)
	return some
}
