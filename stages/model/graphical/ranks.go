package graphical

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// Values of two numbers in one cell of a table depend on each other as their codes do: the
// last bin of a long tail holds much of what two columns have in common. The model does not
// know it, and rows whose values were drawn apart lose it. So numbers of which pairs were
// measured are placed one after the other, each by those it is tied to in a tree of the
// strongest relations: which values a bin has is what the histogram of the column says, as for
// all columns; which row of the bin gets which follows the ranks of the other numbers, or their
// codes where they are placed later, by a normal law of both whose correlation each cell has
// for itself (joint). It is post-processing of the model (docs/marginals.md section 4).

const (
	mostRelations = 300 // pairs of numbers that are looked at
	leastRelation = .05 // correlation of normal scores below which numbers are placed apart
	mostRelation  = .95 // the greatest that is taken for one
	rankSteps     = 1 << 16
)

// relation is how a number is placed by another one.
type relation struct {
	column, by int
	strength   float64     // correlation of normal scores of all rows
	cells      [][]float64 // of each cell, by code of the other number, then by code
}

// placing is a number with its relations to others.
type placing struct {
	column int
	by     []relation
}

// scores are the normal scores of a number's ranks, by code.
type scores struct {
	at    [][stretches]float64
	mean  []float64 // of each code
	whole float64   // variance of the means
	codes int       // the code of missing values among them
}

// placings returns the numbers that are placed by ranks, in their order.
func (m *released) placings() (list []placing, all []*scores) {
	scores, tables := make([]*scores, len(m.Columns)), map[[2]int][]float64{}
	var edges []relation
	for _, pair := range m.near() {
		table, err := m.model.Marginal(pair[:])
		if err != nil { // too large to be found by elimination
			continue
		}
		for _, j := range pair {
			if scores[j] == nil {
				scores[j] = m.scores(j)
			}
		}
		if r := related(table, scores[pair[0]], scores[pair[1]]); math.Abs(r) >= leastRelation {
			edges, tables[pair] = append(edges, relation{column: pair[0], by: pair[1], strength: r}), table
		}
	}
	for _, r := range strongest(edges, len(m.Columns)) {
		table := tables[[2]int{r.column, r.by}]
		for _, r := range []relation{r, {column: r.by, by: r.column, strength: r.strength}} {
			r.cells = r.couplings(table, scores)
			index := slices.IndexFunc(list, func(p placing) bool { return p.column == r.column })
			if index < 0 {
				index, list = len(list), append(list, placing{column: r.column})
			}
			list[index].by = append(list[index].by, r)
		}
	}
	return list, scores
}

// near returns the pairs of numbers that were measured together, or each with one column that is
// the same.
func (m *released) near() (pairs [][2]int) {
	comparison := make([][]bool, len(m.Columns))
	for j := range comparison {
		comparison[j] = make([]bool, len(m.Columns))
	}
	for _, x := range m.Measured {
		for _, a := range x.Columns {
			for _, b := range x.Columns {
				comparison[a][b] = len(x.Columns) > 1
			}
		}
	}
	for a := range comparison {
		for b := a + 1; b < len(comparison); b++ {
			if m.Columns[a].Order != nil || m.Columns[b].Order != nil || len(pairs) >= mostRelations {
				continue
			}
			for c := range comparison {
				if comparison[a][c] && comparison[b][c] {
					pairs = append(pairs, [2]int{a, b})
					break
				}
			}
		}
	}
	return pairs
}

// strongest keeps the strongest relations that form no circle.
func strongest(edges []relation, columns int) (retained []relation) {
	slices.SortStableFunc(edges, func(a, b relation) int { return descending(math.Abs(a.strength), math.Abs(b.strength)) })
	tree := make([]int, columns)
	for j := range tree {
		tree[j] = j
	}
	for _, e := range edges {
		if a, b := tree[e.column], tree[e.by]; a != b {
			retained = append(retained, e)
			for j := range tree {
				if tree[j] == a {
					tree[j] = b
				}
			}
		}
	}
	return retained
}

// scores finds the scores of a number, missing values left out.
func (m *released) scores(j int) *scores {
	counts, err := m.model.Marginal([]int{j})
	if err != nil {
		return nil
	}
	bins := len(m.Columns[j].Bins)
	s, present, before := &scores{codes: len(counts)}, total(counts[:bins]), 0.0
	if !(present > 0) {
		return nil
	}
	for _, n := range counts[:bins] {
		var places [stretches]float64
		mean, part := 0.0, max(n/present, 0)
		for k := range places {
			low, high := stretch(k)
			places[k] = bitmath.NormalQuantile(finite(before + float64(part*(low+high)/2)))
			mean += float64(places[k] * (high - low))
		}
		s.at, s.mean = append(s.at, places), append(s.mean, mean)
		s.whole += float64(part * mean * mean)
		before += part
	}
	return s
}

// finite keeps a rank where its score is finite.
func finite(rank float64) float64 { return min(max(rank, 0x1p-40), 1-0x1p-40) }

// related returns the correlation of two numbers' normal scores, of rows where neither is missing,
// made up for what codes hide of it.
func related(table []float64, a, b *scores) float64 {
	if a == nil || b == nil || !(a.whole > 0 && b.whole > 0) {
		return 0
	}
	rows, sum, sumA, sumB := 0.0, 0.0, 0.0, 0.0
	for i, x := range a.mean {
		for k, y := range b.mean {
			n := table[i*b.codes+k]
			rows, sum = rows+n, sum+float64(n*x*y)
			sumA, sumB = sumA+float64(n*x), sumB+float64(n*y)
		}
	}
	if !(rows > 0) {
		return 0
	}
	r := (sum/rows - float64(sumA/rows*sumB/rows)) / float64(a.whole*b.whole)
	return min(max(r, -mostRelation), mostRelation)
}

// rank places the numbers that are related for a whole block. ranks are where rows lie among
// the rows of their bin, by column: 0 the first of rankSteps.
func (w *drawing) rank() {
	w.placed = make([][]uint16, len(w.block))
	ranks, room := make([][]uint16, len(w.block)), &sorting{}
	for _, p := range w.placings {
		w.placed[p.column], ranks[p.column] = w.ordered(p, ranks, room)
	}
}

// ordered places a number: rows of a bin by a key that has the law of the number's rank inside
// its bin given where the row lies in the bins of the others.
func (w *drawing) ordered(p placing, ranks [][]uint16, room *sorting) (cells, rank []uint16) {
	codes, c := w.block[p.column], &w.m.Columns[p.column]
	bins := len(c.Bins)
	keys := room.cleared(len(codes))
	w.keys(p, ranks, keys)
	cells, rank = make([]uint16, len(codes)), make([]uint16, len(codes))
	order, starts := room.sorted(codes, keys, c.codes())
	for code := range c.codes() {
		rows := order[starts[code]:starts[code+1]]
		if code >= bins {
			for _, i := range rows {
				cells[i] = uint16(c.places() + code - bins)
			}
			continue
		}
		own := w.fillers[p.column].Ordered(code, len(rows))
		for k, i := range rows {
			cells[i], rank[i] = own[k], uint16(uint64(2*k+1)*rankSteps/uint64(2*len(rows)))
		}
	}
	return cells, rank
}

// keys finds the numbers by which the rows are placed inside their bins.
func (w *drawing) keys(p placing, ranks [][]uint16, keys []uint16) {
	codes, bins := w.block[p.column], len(w.m.Columns[p.column].Bins)
	joints, even := make([]*joint, len(p.by)), evenly()
	for k, r := range p.by {
		joints[k] = newJoint(r, w.scores, even)
	}
	tilts := make([]*tilt, 0, len(p.by))
	for i, code := range codes {
		if int(code) >= bins { // missing
			continue
		}
		tilts = tilts[:0]
		for k, r := range p.by {
			if by := int(w.block[r.by][i]); by < len(w.m.Columns[r.by].Bins) {
				tilts = append(tilts, joints[k].tiltOf(by, int(code), stretchOf(w.rankOf(ranks[r.by], i))))
			}
		}
		keys[i] = uint16(min(rankSteps*even.quantile(tilts, w.values.Float64()), rankSteps-1))
	}
}

// rankOf returns the rank of a row in [0, 1): a uniform draw where ranks is nil.
func (w *drawing) rankOf(ranks []uint16, row int) float64 {
	if ranks == nil {
		return w.values.Float64()
	}
	return float64(ranks[row]) / rankSteps
}

// sorting is room for keys and orders of the rows of a block, which each number that is placed needs anew.
type sorting struct {
	keys   []uint16
	orders [2][]int32
}

// cleared returns so many keys, all 0.
func (s *sorting) cleared(rows int) []uint16 {
	if cap(s.keys) < rows {
		s.keys = make([]uint16, rows)
	}
	s.keys = s.keys[:rows]
	clear(s.keys)
	return s.keys
}

// sorted lists rows by code, the rows of a code by key, in the order of rows where keys are
// alike; rows of a code are from starts[code] to starts[code+1]. The list is good until the next one.
func (s *sorting) sorted(codes, keys []uint16, sizes int) (order []int32, starts []int) {
	for i := range s.orders {
		if cap(s.orders[i]) < len(codes) {
			s.orders[i] = make([]int32, len(codes))
		}
		s.orders[i] = s.orders[i][:len(codes)]
	}
	countingSort(s.orders[0], keys, rankSteps, nil)
	countingSort(s.orders[1], codes, sizes, s.orders[0])
	return s.orders[1], startsOf(codes, sizes)
}

// byCode lists rows by code, in their order; rows of a code are from starts[code] to
// starts[code+1].
func byCode(codes []uint16, sizes int) (order []int32, starts []int) {
	order = make([]int32, len(codes))
	countingSort(order, codes, sizes, nil)
	return order, startsOf(codes, sizes)
}

func startsOf(codes []uint16, sizes int) []int {
	starts := make([]int, sizes+1)
	for _, code := range codes {
		starts[code+1]++
	}
	for code := range sizes {
		starts[code+1] += starts[code]
	}
	return starts
}

// countingSort lists rows by a number of each, in a given order where they are alike.
func countingSort(order []int32, numbers []uint16, sizes int, counts []int32) {
	starts := make([]int, sizes+1)
	for _, x := range numbers {
		starts[int(x)+1]++
	}
	for k := range sizes {
		starts[k+1] += starts[k]
	}
	for k := range numbers {
		i := int32(k)
		if counts != nil {
			i = counts[k]
		}
		order[starts[numbers[i]]] = i
		starts[numbers[i]]++
	}
}
