package marginal

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// shared are the keys of one block of rows: the place of each row in the columns that
// the sets of a piece share.
type shared [sharedRows]uint32

// sharedRows is how many rows are in a block; their keys and codes stay in the first
// cache.
const sharedRows = 1 << 12

// count counts all rows for the sets of a piece, block by block.
func (t *Tally) count(columns [][]uint16, p piece) {
	var keys shared
	rows := len(columns[t.sets[p.sets[0]][0]])
	for lo := 0; lo < rows; lo += sharedRows {
		hi := min(lo+sharedRows, rows)
		block := keys[:hi-lo]
		clear(block)
		for _, j := range p.before {
			extend(block, columns[j][lo:hi], uint32(t.sizes[j]))
		}
		t.block(columns, p, block, lo)
	}
}

// block counts the rows of one block, two sets side by side: counts of one cell wait for
// each other, counts of different sets do not.
func (t *Tally) block(columns [][]uint16, p piece, keys []uint32, lo int) {
	last := func(k int) (codes []uint16, counts []int64, size uint32) {
		i := p.sets[k]
		j := t.sets[i][len(p.before)]
		return columns[j][lo : lo+len(keys)], t.counts[i], uint32(t.sizes[j])
	}
	for k := 0; k+1 < len(p.sets); k += 2 {
		x, m, r := last(k)
		y, n, s := last(k + 1)
		two(keys, x, y, m, n, r, s)
	}
	if k := len(p.sets) - 1; k%2 == 0 {
		x, m, r := last(k)
		one(keys, x, m, r)
	}
}

// one counts the codes x of the last column of a set, of size r, behind keys.
func one(keys []uint32, x []uint16, m []int64, r uint32) {
	x = x[:len(keys)]
	for i, k := range keys {
		m[k*r+uint32(x[i])]++
	}
}

// two counts two sets.
func two(keys []uint32, x, y []uint16, m, n []int64, r, s uint32) {
	x, y = x[:len(keys)], y[:len(keys)]
	for i, k := range keys {
		m[k*r+uint32(x[i])]++
		n[k*s+uint32(y[i])]++
	}
}

// Queries lists the sets of k of n columns, in lexical order: all of them, or
// `most` different ones drawn by rng where there are more. drawn says which.
func Queries(n, k, most int, rng *rand.Rand) (list [][]int, drawn bool) {
	if choose(n, k) <= float64(most) {
		return all(n, k), false
	}
	seen := map[string]bool{}
	for len(list) < most {
		set := draw(n, k, rng)
		key := fmt.Sprint(set)
		if !seen[key] {
			seen[key] = true
			list = append(list, set)
		}
	}
	slices.SortFunc(list, slices.Compare)
	return list, true
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return max(c, 0)
}

func all(n, k int) [][]int {
	if k > n {
		return nil
	}
	set := make([]int, k)
	for i := range set {
		set[i] = i
	}
	var list [][]int
	for {
		list = append(list, slices.Clone(set))
		i := k - 1
		for i >= 0 && set[i] == n-k+i {
			i--
		}
		if i < 0 {
			return list
		}
		set[i]++
		for j := i + 1; j < k; j++ {
			set[j] = set[j-1] + 1
		}
	}
}

// draw returns a set of k of n places, each set as likely as any other (Floyd).
func draw(n, k int, rng *rand.Rand) []int {
	set := make([]int, 0, k)
	for j := n - k; j < n; j++ {
		v := rng.IntN(j + 1)
		if slices.Contains(set, v) {
			v = j
		}
		set = append(set, v)
	}
	slices.Sort(set)
	return set
}
