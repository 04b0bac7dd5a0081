package learn

import (
	"math"
	"slices"
)

// split is the best way found to part a node: codes up to rank go left, and next
// is the least code on the right.
type split struct {
	found      bool
	feature    int
	rank, next uint32
	gain       float64 // what the criterion maximises, comparable within a node
	drawn      float64 // threshold of an extra tree
}

// split tries features in order, or MaxFeatures drawn ones: constant ones count
// as drawn, but the search goes on until one is not constant.
func (g *grower) split(items []item, total []float64) split {
	best := split{gain: math.Inf(-1)}
	g.sums.forget()
	p := len(g.order)
	draw := g.MaxFeatures < p || g.RandomThreshold
	varied := false
	for seen := 0; seen < p; seen++ {
		if draw {
			at := seen + g.rng.IntN(p-seen)
			g.order[seen], g.order[at] = g.order[at], g.order[seen]
		}
		if f := g.order[seen]; g.idle[f] {
			// constant in a node above
		} else if g.try(int(f), items, total, &best) {
			varied = true
		} else {
			g.idle[f], g.idled = true, append(g.idled, f)
		}
		if draw && varied && seen+1 >= g.MaxFeatures {
			break
		}
	}
	return best
}

// try offers the splits of one feature; false says that it is constant here.
func (g *grower) try(f int, items []item, total []float64, best *split) bool {
	bins := len(g.values[f])
	if bins < 2 {
		return false
	}
	if b := g.block[f]; b >= 0 {
		return g.tryBlock(f, int(b), items, total, best)
	}
	if c := g.small[f]; c != nil {
		return tryCodes(g, f, c, bins, items, total, best)
	}
	return tryCodes(g, f, g.large[f], bins, items, total, best)
}

func tryCodes[T uint8 | uint32](g *grower, f int, codes []T, bins int, items []item, total []float64,
	best *split) bool {
	switch {
	case g.RandomThreshold:
		return tryRandom(g, f, codes, items, total, best)
	case bins == 2:
		return tryTwo(g, f, codes, items, total, best)
	case 3*len(items) < bins:
		return trySorted(g, f, codes, items, total, best)
	}
	return tryCounted(g, f, codes, bins, items, total, best)
}

// tryTwo tries the one split of an indicator. Two classes are added up without a
// branch, which the processor could not foresee.
func tryTwo[T uint8 | uint32](g *grower, f int, codes []T, items []item, total []float64, best *split) bool {
	n := 0
	if g.stats == 2 && !g.numbers {
		var sums [4]float64
		for i := range items {
			it := &items[i]
			c := int(codes[it.row]) & 1
			sums[(c<<1|int(it.k))&3] += it.a
			n += 1 - c
		}
		g.left[0], g.left[1] = sums[0], sums[1]
	} else {
		clear(g.left)
		for i := range items {
			if codes[items[i].row] == 0 {
				g.add(g.left, &items[i])
				n++
			}
		}
	}
	if n == 0 || n == len(items) {
		return false
	}
	g.offer(f, 0, 1, n, len(items), total, best)
	return true
}

func (g *grower) add(dst []float64, it *item) {
	if g.numbers {
		dst[0] += float64(it.k)
		dst[1] += it.a
		return
	}
	dst[it.k] += it.a
}

// tryCounted adds up the rows of each value, then walks over the values.
func tryCounted[T uint8 | uint32](g *grower, f int, codes []T, bins int, items []item, total []float64,
	best *split) bool {
	width := g.stats + 1
	h := g.hist[:bins*width]
	clear(h)
	count(h, codes, items, g.stats, g.numbers)
	return g.walk(f, h, bins, len(items), total, best)
}

func (g *grower) walk(f int, h []float64, bins, n int, total []float64, best *split) bool {
	clear(g.left)
	width, count, last, varied := g.stats+1, 0, -1, false
	for b := range bins {
		bin := h[b*width : (b+1)*width]
		if bin[g.stats] == 0 {
			continue
		}
		if last >= 0 {
			varied = true
			g.offer(f, uint32(last), uint32(b), count, n, total, best)
		}
		for k := range g.left {
			g.left[k] += bin[k]
		}
		count += int(bin[g.stats])
		last = b
		if count == n {
			break
		}
	}
	return varied
}

// trySorted sorts the few rows of a node by value.
func trySorted[T uint8 | uint32](g *grower, f int, codes []T, items []item, total []float64, best *split) bool {
	keys := g.keys[:len(items)]
	for i := range items {
		keys[i] = uint64(codes[items[i].row])<<32 | uint64(i)
	}
	keys = sortKeys(keys, g.spare, len(g.values[f]))
	clear(g.left)
	varied := false
	for i, key := range keys {
		if i > 0 && key>>32 != keys[i-1]>>32 {
			varied = true
			g.offer(f, uint32(keys[i-1]>>32), uint32(key>>32), i, len(items), total, best)
		}
		g.add(g.left, &items[uint32(key)])
	}
	return varied
}

// Sizes of nodes up to which rows are sorted by insertion, and by comparison. Above, two passes over bytes are faster
// than the comparisons, below the 256 counts of a pass are not worth it.
const (
	fewKeys  = 24
	someKeys = 96
)

// sortKeys returns keys, codes below bins above the place of a row, in ascending order, in keys or in spare. Places
// ascend already, so that passes over the bytes of the codes, which keep the order of equal ones, are enough.
func sortKeys(keys, spare []uint64, bins int) []uint64 {
	switch {
	case len(keys) <= fewKeys:
		insertion(keys)
		return keys
	case len(keys) <= someKeys:
		slices.Sort(keys)
		return keys
	}
	spare = spare[:len(keys)]
	for shift := 32; (bins-1)>>(shift-32) > 0; shift += 8 {
		byByte(spare, keys, shift)
		keys, spare = spare, keys
	}
	return keys
}

// byByte copies keys to dst in the order of the byte at shift; equal ones keep theirs.
func byByte(dst, keys []uint64, shift int) {
	var next [256]int
	for _, k := range keys {
		next[byte(k>>shift)]++
	}
	begin := 0
	for b, n := range next {
		next[b], begin = begin, begin+n
	}
	for _, k := range keys {
		b := byte(k >> shift)
		dst[next[b]] = k
		next[b]++
	}
}

func insertion(keys []uint64) {
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}

// tryRandom draws one threshold between the extremes of the node.
func tryRandom[T uint8 | uint32](g *grower, f int, codes []T, items []item, total []float64, best *split) bool {
	lo, hi := codes[items[0].row], codes[items[0].row]
	for i := range items {
		c := codes[items[i].row]
		lo, hi = min(lo, c), max(hi, c)
	}
	if lo == hi {
		return false
	}
	v := g.values[f]
	t := v[lo] + float64(g.rng.Float64()*(v[hi]-v[lo]))
	if t >= v[hi] {
		t = v[lo]
	}
	index, found := slices.BinarySearch(v, t)
	if !found {
		index--
	}
	clear(g.left)
	n := 0
	for i := range items {
		if int(codes[items[i].row]) <= index {
			g.add(g.left, &items[i])
			n++
		}
	}
	before := best.gain
	g.offer(f, uint32(index), uint32(index)+1, n, len(items), total, best)
	if best.gain != before {
		best.drawn = t
	}
	return true
}

// offer keeps the split with g.left on its left where it is better.
func (g *grower) offer(f int, rank, next uint32, left, n int, total []float64, best *split) {
	if left < g.MinLeaf || n-left < g.MinLeaf {
		return
	}
	if gain := g.gain(total); gain > best.gain {
		*best = split{true, f, rank, next, gain, 0}
	}
}

// gain returns the criterion up to terms and factors that do not depend on the split.
func (g *grower) gain(total []float64) float64 {
	l, r := g.left, g.right
	if g.numbers {
		n, m := total[0]-l[0], total[1]-l[1]
		if g.Criterion == friedman {
			d := l[1]/l[0] - m/n
			return d * d * l[0] * n
		}
		return l[1]*l[1]/l[0] + m*m/n
	}
	if g.stats == 2 && g.Criterion == Gini {
		a, b := total[0]-l[0], total[1]-l[1]
		return (float64(l[0]*l[0])+float64(l[1]*l[1]))/(l[0]+l[1]) + (float64(a*a)+float64(b*b))/(a+b)
	}
	wl, wr := 0.0, 0.0
	for k := range l {
		r[k] = total[k] - l[k]
		wl, wr = wl+l[k], wr+r[k]
	}
	return float64(-wl*g.Criterion.impurity(l, wl)) - float64(wr*g.Criterion.impurity(r, wr))
}

// blockSums holds the statistics of a node's items for each code of a block: one
// pass over them serves every column of the block that is drawn.
type blockSums struct {
	cells [][]float64 // by block: stats numbers and the number of items for each code
	fresh []bool      // summed for this node
	any   bool
}

func newBlockSums(r *ranked, stats int) blockSums {
	s := blockSums{cells: make([][]float64, len(r.blocks)), fresh: make([]bool, len(r.blocks))}
	for k, b := range r.blocks {
		s.cells[k] = make([]float64, (b.width+1)*(stats+1))
	}
	return s
}

func (s *blockSums) forget() {
	if s.any {
		clear(s.fresh)
		s.any = false
	}
}

// tryBlock offers the split of column f of a block: those with a 0 go left.
func (g *grower) tryBlock(f, block int, items []item, total []float64, best *split) bool {
	one := g.right
	n := g.ones(block, f-g.blocks[block].first, items, one)
	if n == 0 || n == len(items) {
		return false
	}
	draws := 0.0
	if g.RandomThreshold {
		draws = g.rng.Float64()
	}
	for k, v := range one {
		g.left[k] = total[k] - v
	}
	before := best.gain
	g.offer(f, 0, 1, len(items)-n, len(items), total, best)
	if best.gain != before {
		best.drawn = draws
	}
	return true
}

// ones puts the statistics of the items of a code into to and returns their number.
// A block of more columns than items is not summed whole.
func (g *grower) ones(block, code int, items []item, dst []float64) int {
	b := &g.blocks[block]
	if len(items) >= b.width {
		cell := g.cells(block, items)[code*(g.stats+1):]
		copy(dst, cell)
		return int(cell[g.stats])
	}
	clear(dst)
	if b.small != nil {
		return addOnes(g, b.small, uint8(code), items, dst)
	}
	return addOnes(g, b.large, uint32(code), items, dst)
}

func addOnes[T uint8 | uint32](g *grower, codes []T, code T, items []item, dst []float64) int {
	n := 0
	for i := range items {
		if codes[items[i].row] == code {
			g.add(dst, &items[i])
			n++
		}
	}
	return n
}

// cells returns the sums of a block, made where the node has none yet.
func (g *grower) cells(block int, items []item) []float64 {
	cells := g.sums.cells[block]
	if g.sums.fresh[block] {
		return cells
	}
	g.sums.fresh[block], g.sums.any = true, true
	clear(cells)
	b := &g.blocks[block]
	if b.small != nil {
		count(cells, b.small, items, g.stats, g.numbers)
	} else {
		count(cells, b.large, items, g.stats, g.numbers)
	}
	return cells
}

// count adds the items to the cells of their codes: statistics, then their number.
func count[T uint8 | uint32](cells []float64, codes []T, items []item, stats int, numbers bool) {
	if numbers {
		for i := range items {
			pos := int(codes[items[i].row]) * 3
			cells[pos] += float64(items[i].k)
			cells[pos+1] += items[i].a
			cells[pos+2]++
		}
		return
	}
	width := stats + 1
	for i := range items {
		at := int(codes[items[i].row]) * width
		cells[at+int(items[i].k)] += items[i].a
		cells[at+stats]++
	}
}
