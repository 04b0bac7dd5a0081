package knn

import (
	"context"
	"math"
	"slices"

	"weir/train/nearest"
	"weir/train/parallel"
)

// batch is how many receivers a worker takes at a time.
const batch = 64

// Fill returns, for each row of receivers (nil: all rows of table), the values of the wanted
// columns that are missing there. Columns are those of the index, in its order.
// Results do not depend on workers.
func (x *Index) Fill(ctx context.Context, table Columns, receivers []int32, wanted []int, workers int) ([]Cell, error) {
	if receivers == nil {
		receivers = incomplete(table, wanted)
	}
	parts := make([][]Cell, (len(receivers)+batch-1)/batch)
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

// Cell is a filled cell.
type Cell struct {
	Row    int32
	Column int
	Value  float64
}

// incomplete lists the rows where a wanted column is missing.
func incomplete(table Columns, wanted []int) []int32 {
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

func (x *Index) searcher() *searcher {
	return &searcher{index: x, point: make([]float64, x.width), seen: make([]bool, x.width)}
}

func (s *searcher) fill(table Columns, receivers []int32, wanted []int) []Cell {
	var cells []Cell
	for _, r := range receivers {
		s.aim(table, r, wanted)
		for _, g := range s.index.groups {
			s.visit(g)
		}
		s.scanLoose()
		for i := range s.wants {
			w := &s.wants[i]
			cells = append(cells, Cell{Row: r, Column: w.column, Value: s.value(w)})
		}
	}
	return cells
}

// aim takes row r of the table as receiver.
func (s *searcher) aim(table Columns, r int32, wanted []int) {
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
			s.wants = append(s.wants, want{column: c, best: nearest.Best{K: s.index.opt.Neighbors}})
		}
	}
}
