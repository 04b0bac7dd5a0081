package histogram

import (
	"math/bits"
	"math/rand/v2"
	"sort"
)

// urn holds how many rows each leaf of a bin is still to get. Rows are drawn without
// replacement: a uniform one of those that are left, found in a tree of partial sums
// (Fenwick 1994) in as many steps as the number of leaves has bits.
type urn struct {
	first  int     // leaf of count 0
	counts []int64 // of a full urn
	sums   []int64 // partial sums of what is left; place i, from 1, holds the i&-i counts up to i
	left   int64
	upTo   []float64 // not nil: draws are independent, by these sums of weights
	top    int       // greatest power of two that is a place
}

func newUrn(first int, counts []int64) urn {
	u := urn{first: first, counts: counts, sums: make([]int64, len(counts)+1)}
	u.top = 1 << max(bits.Len(uint(len(counts)))-1, 0)
	return u
}

// fill starts with all counts again.
func (u *urn) fill() {
	clear(u.sums)
	u.left = 0
	for i, n := range u.counts {
		u.left += n
		u.sums[i+1] += n
		if up := (i + 1) + (i+1)&-(i+1); up < len(u.sums) {
			u.sums[up] += u.sums[i+1]
		}
	}
}

// draw takes a row out of the urn and returns its leaf.
func (u *urn) draw(rng *rand.Rand) int {
	if u.upTo != nil {
		at := float64(rng.Float64() * u.upTo[len(u.upTo)-1])
		return u.first + sort.Search(len(u.upTo)-1, func(i int) bool { return u.upTo[i] > at })
	}
	if len(u.counts) == 1 {
		return u.first
	}
	if u.left == 0 {
		u.fill()
	}
	r := int64(rng.Uint64N(uint64(u.left)))
	u.left--
	at := 0
	for step := u.top; step > 0; step >>= 1 {
		next := at + step
		if next >= len(u.sums) {
			continue
		}
		if u.sums[next] <= r {
			at = next
			r -= u.sums[next]
		} else {
			u.sums[next]--
		}
	}
	return u.first + at
}
