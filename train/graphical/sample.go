package graphical

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
)

// blockRows is how many rows of a block stay in the first cache.
const blockRows = 1 << 11

// Sample draws rows and returns the codes of each column. The rows are rounded by
// group: the root clique and then every clique given its separator gets, in a group of
// g rows with cell probabilities p, floor(g p) or one more of each cell over all
// rows, and the expected number is g p. No row is forbidden. Independent rows are each drawn by
// themselves, and nothing is rounded.
func (m *Model) Sample(rows int, independent bool, rng *rand.Rand) [][]uint16 {
	s := sampling{Model: m, rows: max(rows, 0), independent: independent, columns: make([][]uint16, len(m.tree.dom)),
		rng: rand.NewPCG(rng.Uint64(), rng.Uint64())}
	for c := range s.columns {
		s.columns[c] = make([]uint16, s.rows)
	}
	s.cells, s.scratch = make([]uint32, s.rows), make([]uint32, s.rows)
	for i := range m.tree.nodes {
		s.clique(i)
	}
	return s.columns
}

type sampling struct {
	*Model
	rows        int
	independent bool
	columns     [][]uint16
	cells       []uint32 // new cells of the rows of one clique, group by group
	scratch     []uint32
	rng         *rand.PCG
}

// clique draws the columns of a clique that are not in its separator. Groups are laid
// out one after the other, each shuffled; then rows in their order take the next
// cell of their group, so that memory is read and written along a few streams.
func (s *sampling) clique(i int) {
	n := &s.tree.nodes[i]
	fresh := byDomain(s.tree.dom, n.vars.minus(n.sepVars))
	if len(fresh) == 0 || s.rows == 0 {
		return
	}
	next := s.groups(n)
	s.fill(i, fresh, next)
	keys := make([]uint32, blockRows)
	for lo := 0; lo < s.rows; lo += blockRows {
		part := keys[:min(blockRows, s.rows-lo)]
		s.keys(n, lo, part)
		for k, key := range part {
			part[k] = s.cells[next[key]]
			next[key]++
		}
		s.decode(fresh, lo, part)
	}
}

// keys fills in the separator's cells of the rows from lo.
func (s *sampling) keys(n *node, lo int, keys []uint32) {
	clear(keys)
	for _, c := range n.sep {
		column, codes := s.columns[c][lo:lo+len(keys)], uint32(s.tree.dom[c])
		for k, code := range column {
			keys[k] = keys[k]*codes + uint32(code)
		}
	}
}

// groups counts the rows of each cell of a separator and returns where each group
// starts.
func (s *sampling) groups(n *node) []int {
	start, keys := make([]int, n.sepCells+1), make([]uint32, blockRows)
	for lo := 0; lo < s.rows; lo += blockRows {
		part := keys[:min(blockRows, s.rows-lo)]
		s.keys(n, lo, part)
		for _, key := range part {
			start[key+1]++
		}
	}
	for k := range n.sepCells {
		start[k+1] += start[k]
	}
	return start
}

// fill draws the cells of every group: independent ones, or rounded and shuffled.
func (s *sampling) fill(i int, fresh []int, start []int) {
	n, b := &s.tree.nodes[i], s.beliefs[i]
	bases := placesOf(sizes(s.tree.dom, n.sep), stridesOf(s.tree.dom, n.sep, n.vars))
	offsets := placesOf(sizes(s.tree.dom, fresh), stridesOf(s.tree.dom, fresh, n.vars))
	u := uniform(s.rng)
	for k, base := range bases {
		group := s.cells[start[k]:start[k+1]]
		if len(group) == 0 {
			continue
		}
		if s.independent {
			s.draw(b[base:], offsets, group)
			continue
		}
		round(b[base:], offsets, u, group)
		s.shuffle(group)
		if u += goldenStep; u >= 1 {
			u--
		}
	}
}

// goldenStep is the step of the sequence of offsets over groups, which spreads them more
// evenly than chance.
const goldenStep = 0.6180339887498949

func uniform(p *rand.PCG) float64 { return float64(p.Uint64()>>11) / (1 << 53) }

// round fills a group of g rows with cells in proportion to weights, by systematic
// rounding: a cell gets the whole numbers that g times its share of the weight
// passes, counted from u below 1. That is its expectation rounded down or up, and
// nothing where the weight is 0.
func round(weights []float64, offsets []int32, u float64, group []uint32) {
	total, last := 0.0, 0
	for k, o := range offsets {
		if w := weights[o]; w > 0 {
			total, last = total+w, k
		}
	}
	key, sum, done := float64(len(group))/total, 0.0, 0
	for k, o := range offsets[:last+1] {
		sum += weights[o]
		end := min(int(float64(sum*key)+u), len(group))
		if k == last {
			end = len(group)
		}
		for ; done < end; done++ {
			group[done] = uint32(k)
		}
	}
}

// draw fills a group with independent cells, each with the probability of its share of weights.
func (s *sampling) draw(weights []float64, offsets []int32, group []uint32) {
	dst := make([]float64, len(offsets))
	total, last := 0.0, 0
	for k, o := range offsets {
		if w := weights[o]; w > 0 {
			total, last = total+w, k
		}
		dst[k] = total
	}
	for i := range group {
		u := uniform(s.rng) * total
		// of weight 0 is none: it ends where the one before does
		k := sort.Search(last, func(k int) bool { return dst[k] > u })
		group[i] = uint32(k)
	}
}

// shuffle puts a group in random order. A large one goes to random buckets first, in
// order, so that the exchanges stay in cache (Rao 1961, Sandelius 1962).
func (s *sampling) shuffle(group []uint32) {
	if len(group) > bucketed {
		s.deal(group)
		return
	}
	for i := len(group) - 1; i > 0; i-- {
		j, _ := bits.Mul64(s.rng.Uint64(), uint64(i+1))
		group[i], group[j] = group[j], group[i]
	}
}

const (
	bucketed = 1 << 17 // cells; 512 KB
	buckets  = 256
)

func (s *sampling) deal(group []uint32) {
	draws, start := make([]uint8, len(group)), [buckets + 1]int{}
	for i := range draws {
		if i%8 == 0 {
			word := s.rng.Uint64()
			for k := i; k < min(i+8, len(draws)); k++ {
				draws[k], word = uint8(word), word>>8
			}
		}
		start[int(draws[i])+1]++
	}
	for b := range buckets {
		start[b+1] += start[b]
	}
	next, dst := start, s.scratch[:len(group)]
	for i, x := range group {
		dst[next[draws[i]]] = x
		next[draws[i]]++
	}
	copy(group, dst)
	for b := range buckets {
		s.shuffle(group[start[b]:start[b+1]])
	}
}

// decode writes the codes of new cells into their columns.
func (s *sampling) decode(fresh []int, lo int, cells []uint32) {
	stride := uint32(1)
	for i, c := range slices.Backward(fresh) {
		codes, column := uint32(s.tree.dom[c]), s.columns[c][lo:lo+len(cells)]
		for k, cell := range cells {
			code := cell / stride
			if i > 0 {
				code %= codes
			}
			column[k] = uint16(code)
		}
		stride *= codes
	}
}
