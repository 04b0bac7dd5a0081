package histogram

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sort"
)

// Filler places values inside the bins of a model: it turns codes of bins into grid
// cells, row by row, for a drawing whose rows of each bin are known beforehand. The
// rows of a bin are shared out to its leaves by systematic rounding, in proportion to
// their weights, so that each leaf gets its share to within one row over the whole
// drawing; rows get leaves in random order, and a cell of the leaf uniformly. Memory holds the leaves alone.
// A Filler that knows no rows draws the leaf of each row by itself.
type Filler struct {
	spans []span
	urns  []urn  // one a bin; bins without rows have the sums of weights instead of counts
	cells uint16 // of values: what follows is not a bin
	rng   *rand.Rand
}

// span is the cells of a leaf, in so little that the spans of a column stay in cache.
type span struct{ lo, more uint16 } // more: beyond the first

// NewFiller prepares a drawing: bin b is the leaves bins[b][0] to bins[b][1]
// (excluded) and rows[b] rows of it will be placed. A bin that is asked for more rows
// starts anew with the same shares. Without rows, nil, each row is placed by itself.
func NewFiller(leaves []Leaf, bins [][2]int, rows []int64, rng *rand.Rand) *Filler {
	f := &Filler{spans: make([]span, len(leaves)), rng: rng, urns: make([]urn, len(bins))}
	for i, l := range leaves {
		f.spans[i], f.cells = span{uint16(l.Lo), uint16(l.Hi - l.Lo - 1)}, uint16(l.Hi)
	}
	for b, bin := range bins {
		if rows == nil {
			f.urns[b] = urn{first: bin[0], upTo: sums(weights(leaves[bin[0]:bin[1]]))}
			continue
		}
		f.urns[b] = newUrn(bin[0], Systematic(weights(leaves[bin[0]:bin[1]]), max(rows[b], 1), rng.Float64()))
	}
	return f
}

// Fill sets cells[i] to a grid cell of bin codes[i]. Codes beyond the bins are cells
// beyond the cells of values: with one such code, missing, it becomes the cell after the
// last value.
func (f *Filler) Fill(cells, codes []uint16) {
	bins := uint16(len(f.urns))
	for i, code := range codes {
		if code >= bins {
			cells[i] = f.cells + (code - bins)
			continue
		}
		cells[i] = uint16(f.Cell(int(code)))
	}
}

// Cell returns a grid cell for the next row of a bin.
func (f *Filler) Cell(bin int) int {
	s := f.spans[f.urns[bin].draw(f.rng)]
	if s.more > 0 {
		return int(s.lo) + int(f.rng.Uint64N(uint64(s.more)+1))
	}
	return int(s.lo)
}

// Ordered returns grid cells for the n rows of a bin that were announced, ascending. Rows of a
// leaf of several cells are spread evenly over it.
func (f *Filler) Ordered(bin, n int) []uint16 {
	cells, u := make([]uint16, 0, n), &f.urns[bin]
	for i, rows := range u.counts {
		s := f.spans[u.first+i]
		for k := range rows {
			at := (float64(k) + float64(f.rng.Float64())) / float64(rows)
			cells = append(cells, s.lo+uint16(min(at*(float64(s.more)+1), float64(s.more))))
		}
	}
	return cells[:n]
}

// Shares returns the probabilities of the leaves of a bin, by which a Filler places its rows.
func Shares(leaves []Leaf) []float64 {
	shares := weights(leaves)
	whole := sum(shares)
	for i := range shares {
		shares[i] /= whole
	}
	return shares
}

// Systematic shares n rows out in proportion to weights, which are not negative and
// not all 0: each share is rounded down or up, and their sum is n. at, in [0, 1),
// uniform, makes each share right on average.
func Systematic(weights []float64, n int64, point float64) []int64 {
	total := sum(weights)
	out, before, run := make([]int64, len(weights)), int64(0), 0.0
	for i, w := range weights {
		run += w
		end := min(int64(math.Floor(float64(run/total*float64(n))+point)), n)
		if i == len(weights)-1 {
			end = n
		}
		out[i], before = end-before, end
	}
	return out
}

// sums replaces numbers by the sums of all up to each.
func sums(x []float64) []float64 {
	s := 0.0
	for i, v := range x {
		s += v
		x[i] = s
	}
	return x
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

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
	pos := 0
	for step := u.top; step > 0; step >>= 1 {
		next := pos + step
		if next >= len(u.sums) {
			continue
		}
		if u.sums[next] <= r {
			pos = next
			r -= u.sums[next]
		} else {
			u.sums[next]--
		}
	}
	return u.first + pos
}
