package prep

import (
	"context"
	"math"
	"slices"

	"weir/train"
	"weir/train/parallel"
)

// want is a missing column and its nearest donors.
type want struct {
	column int
	best   train.NearestRows
}

// searcher looks for the donors of one row in one group after another. It is
// the scratch space of one goroutine.
type searcher struct {
	index    *knnIndex
	point    []float64 // the receiver's scaled features, in the order of summation
	seen     []bool    // which of them it observes
	observed []int     // the same as a list
	wants    []want    // one for each missing column
	active   []*train.NearestRows
	plain    []int // features compared with the current group, numeric ones
	coded    []int // nominal ones
	factor   float64
}

// visit searches a group: the donors that observe at least one wanted column
// and share at least one feature.
func (s *searcher) visit(g *group) {
	s.active, s.plain, s.coded = s.active[:0], s.plain[:0], s.coded[:0]
	for i := range s.wants {
		if g.mask[s.wants[i].column] == 1 {
			s.active = append(s.active, &s.wants[i].best)
		}
	}
	for j, c := range s.index.order {
		if !s.seen[j] || g.mask[c] == 0 {
			continue
		}
		if j < s.index.plain {
			s.plain = append(s.plain, j)
		} else {
			s.coded = append(s.coded, j)
		}
	}
	common := len(s.plain) + len(s.coded)
	if len(s.active) == 0 || common == 0 {
		return
	}
	s.factor = float64(s.index.width) / float64(common)
	g.tree.Search(s, -1, s.active...)
}

// Bound returns a squared distance that no donor inside a box is below. The
// conversions keep the compiler from fusing a product into a sum, which would
// round the bound and the distance differently.
func (s *searcher) Bound(box []float64) float64 {
	sum := 0.0
	for _, j := range s.plain {
		v, d := s.point[j], 0.0
		if lo := box[2*j]; v < lo {
			d = lo - v
		} else if hi := box[2*j+1]; v > hi {
			d = v - hi
		}
		sum += float64(d * d)
	}
	for _, j := range s.coded {
		if v := s.point[j]; v < box[2*j] || v > box[2*j+1] {
			sum++
		}
	}
	return sum * s.factor
}

// Distance returns the squared distance to a donor.
func (s *searcher) Distance(donor []float64, _ float64) float64 {
	sum := 0.0
	for _, j := range s.plain {
		d := s.point[j] - donor[j]
		sum += float64(d * d)
	}
	for _, j := range s.coded {
		if s.point[j] != donor[j] {
			sum++
		}
	}
	return sum * s.factor
}

// value returns the fill of one column from its donors.
func (s *searcher) value(w *want) float64 {
	x := s.index
	if len(w.best.List) == 0 {
		return x.fills[w.column]
	}
	if x.isNominal(w.column) {
		votes := map[float64]float64{}
		s.each(w, func(weight, v float64) { votes[v] += weight })
		return winner(votes)
	}
	sum, total := 0.0, 0.0
	s.each(w, func(weight, v float64) { sum, total = sum+float64(weight*v), total+weight })
	return sum / total
}

// each yields the donors' weights and values, nearest first. With weights by
// distance, donors at distance 0 share the whole weight.
func (s *searcher) each(w *want, yield func(weight, value float64)) {
	column, exact := s.index.data[w.column], w.best.List[0].Distance == 0
	for _, n := range w.best.List {
		weight := 1.0
		if s.index.opt.ByDistance && !exact {
			weight = 1 / math.Sqrt(n.Distance)
		}
		if s.index.opt.ByDistance && exact && n.Distance > 0 {
			return
		}
		yield(weight, column[n.Row])
	}
}

// batch is how many receivers a worker takes at a time.
const batch = 64

// Fill returns, for each row of receivers (nil: all rows of table), the values of the wanted
// columns that are missing there. Columns are the columns of the index, in its order.
// Results do not depend on workers.
func (x *knnIndex) Fill(ctx context.Context, table knnColumns, receivers []int32, wanted []int, workers int) ([]knnCell,
	error) {
	if receivers == nil {
		receivers = incomplete(table, wanted)
	}
	parts := make([][]knnCell, (len(receivers)+batch-1)/batch)
	searchers := make([]*searcher, max(1, workers))
	parallel.Do(workers, len(parts), func(worker, i int) {
		if ctx.Err() != nil {
			return
		}
		if searchers[worker] == nil {
			searchers[worker] = x.searcher()
		}
		parts[i] = searchers[worker].fill(table, receivers[i*batch:min((i+1)*batch, len(receivers))], wanted)
	})
	return slices.Concat(parts...), ctx.Err()
}

// knnCell is a filled cell.
type knnCell struct {
	Row    int32
	Column int
	Value  float64
}

// incomplete lists the rows where a wanted column is missing.
func incomplete(table knnColumns, wanted []int) []int32 {
	if len(wanted) == 0 {
		return nil
	}
	rows := []int32{}
	for r := range table[wanted[0]] {
		for _, c := range wanted {
			if math.IsNaN(table[c][r]) {
				rows = append(rows, int32(r))
				break
			}
		}
	}
	return rows
}

func (x *knnIndex) searcher() *searcher {
	return &searcher{index: x, point: make([]float64, x.width), seen: make([]bool, x.width)}
}

func (s *searcher) fill(table knnColumns, receivers []int32, wanted []int) []knnCell {
	var cells []knnCell
	for _, r := range receivers {
		s.aim(table, r, wanted)
		for _, g := range s.index.groups {
			s.visit(g)
		}
		s.scanLoose()
		for i := range s.wants {
			w := &s.wants[i]
			cells = append(cells, knnCell{Row: r, Column: w.column, Value: s.value(w)})
		}
	}
	return cells
}

// aim takes row r of the table as receiver.
func (s *searcher) aim(table knnColumns, r int32, wanted []int) {
	s.observed = s.observed[:0]
	for j, c := range s.index.order {
		v := table[c][r]
		s.point[j], s.seen[j] = v*s.index.scale(c), !math.IsNaN(v)
		if s.seen[j] {
			s.observed = append(s.observed, j)
		}
	}
	s.wants = s.wants[:0]
	for _, c := range wanted {
		if math.IsNaN(table[c][r]) {
			s.wants = append(s.wants, want{column: c, best: train.NearestRows{K: s.index.opt.Neighbors}})
		}
	}
}

// fillGroups fills, as Fill does, inside each group of rows that have the same number in
// `group`: neighbours come from the receiver's own group. Cells come in order of
// groups; they do not depend on workers.
func fillGroups(ctx context.Context, table knnColumns, group []int32, opt knnOptions, wanted []int,
	workers int) ([]knnCell, error) {
	members := membersOf(group)
	receives := map[int32]bool{}
	for _, r := range incomplete(table, wanted) {
		receives[group[r]] = true
	}
	parts := make([][]knnCell, len(members))
	parallel.Do(workers, len(members), func(_, i int) {
		if rows := members[i]; ctx.Err() == nil && receives[group[rows[0]]] {
			parts[i] = newKNNIndex(table, rows, opt).searcher().fill(table, rows, wanted)
		}
	})
	return slices.Concat(parts...), ctx.Err()
}

// membersOf lists the rows of each group, groups in ascending order.
func membersOf(group []int32) [][]int32 {
	places := map[int32]int{}
	numbers := slices.Clone(group)
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for i, g := range numbers {
		places[g] = i
	}
	members := make([][]int32, len(numbers))
	for r, g := range group {
		members[places[g]] = append(members[places[g]], int32(r))
	}
	return members
}
