package columns

import (
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/masks"
	"weir/train/marginal"
)

// rows is a table in cells, which can be read again and again.
type rows interface {
	// each hands on the cells of some columns, batch by batch, and returns the number of rows.
	each(ctx context.Context, some []int, use func(batch)) (int64, error)
}

// batch is some rows, valid until the next one is asked for.
type batch struct {
	cells  [][]uint16               // by column; nil of those that were not asked for
	within func(column int) []uint8 // the points in the cells of a column that is Told
}

// rounds is a Counter that reads its rows once a round: held ones from memory, others from their table. Nothing but
// time follows from the number of rows: which sets are counted in one round goes by their cells.
//
// Each round is held to the first one: the number of rows, and in each set the rows of each code. A table that has
// changed in between ends the stage (pipeline.ErrChanged), since noise of several rounds is drawn for one table.
type rounds struct {
	rows    rows
	grids   []Grid
	number  int64
	cells   [][]int64
	workers int

	coding  Coding
	nearest *masks.Nearest
	tied    []int     // columns of Forbidden, whose codes go by each other
	ones    [][]int64 // the rows of each code; nil of tied columns
}

// roundsOf reads a table once. It goes on with what was kept of its rows then, or with the table where keep is nil.
func roundsOf(ctx context.Context, t pipeline.Table, grids []Grid, keep *held, env *pipeline.Env) (*rounds, error) {
	from, err := passesOf(t, grids, env.Progress)
	if err != nil {
		return nil, err
	}
	r := &rounds{rows: from, grids: grids, workers: env.Workers, cells: make([][]int64, len(grids))}
	all := make([]int, len(grids))
	for j := range grids {
		all[j], r.cells[j] = j, make([]int64, grids[j].Cells())
	}
	r.number, err = from.each(ctx, all, func(b batch) {
		for j, counts := range r.cells {
			for _, cell := range b.cells[j] {
				counts[cell]++
			}
		}
		keep.add(b)
	})
	if keep != nil {
		r.rows = keep
	}
	return r, err
}

// again is a round behind the first.
func (r *rounds) again(ctx context.Context, some []int, use func(batch)) error {
	number, err := r.rows.each(ctx, some, use)
	if err == nil && number != r.number {
		err = errOther
	}
	return err
}

// errOther says that two rounds read two tables.
var errOther = fmt.Errorf("the table %w", pipeline.ErrChanged)

// Cells implements Counter.
func (r *rounds) Cells(column int) []int64 { return r.cells[column] }

// Points implements Counter.
func (r *rounds) Points(ctx context.Context, column int, cells []int) ([]int64, error) {
	from := make([]int32, r.grids[column].Cells()) // where the points of a cell begin, plus 1; 0: not counted
	points := int32(0)
	for _, cell := range cells {
		from[cell] = points + 1
		points += int32(r.grids[column].PointsIn(cell))
	}
	counts := make([]int64, points+1)
	err := r.again(ctx, []int{column}, func(b batch) {
		within := b.within(column)
		for i, cell := range b.cells[column] {
			if at := from[cell]; at > 0 {
				counts[at+int32(within[i])]++
			}
		}
	})
	counts = counts[1:]
	for _, cell := range cells {
		if err == nil && sum(counts[from[cell]-1:][:r.grids[column].PointsIn(cell)]) != r.cells[column][cell] {
			err = errOther
		}
	}
	return counts, err
}

func sum(counts []int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Recode implements Counter.
func (r *rounds) Recode(c Coding) {
	r.coding, r.nearest = c, masks.NewNearest(c.Forbidden, c.Sizes)
	for _, m := range c.Forbidden {
		r.tied = append(r.tied, m.Vars...)
	}
	slices.Sort(r.tied)
	r.tied = slices.Compact(r.tied)
	r.ones = make([][]int64, len(c.To))
	for j, to := range c.To {
		if slices.Contains(r.tied, j) {
			continue
		}
		r.ones[j] = make([]int64, c.Sizes[j])
		for cell, code := range to {
			r.ones[j][code] += r.cells[j][cell]
		}
	}
}

// Count implements Counter.
func (r *rounds) Count(ctx context.Context, sets [][]int, use func(set int, counts []int64) error) error {
	for from := 0; from < len(sets); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := together(r.coding.Sizes, sets[from:])
		all, err := r.count(ctx, sets[from:from+n])
		if err != nil {
			return err
		}
		for k, counts := range all {
			if err := use(from+k, counts); err != nil {
				return err
			}
		}
		from += n
	}
	return nil
}

// together is how many of the sets, from the first on, are counted in one round.
func together(sizes []int, sets [][]int) int {
	n := 0
	for cells := 0; n < len(sets) && (n == 0 || cells < MostCounted); n++ {
		set := 1
		for _, column := range sets[n] {
			set = min(set*sizes[column], marginal.MostCells+1)
		}
		cells += set
	}
	return n
}

// count counts sets in one round.
func (r *rounds) count(ctx context.Context, sets [][]int) ([][]int64, error) {
	tally, err := marginal.NewTally(r.coding.Sizes, sets)
	if err != nil {
		return nil, err
	}
	some := slices.Concat(append(slices.Clone(sets), r.tied)...)
	slices.Sort(some)
	some = slices.Compact(some)
	err = r.again(ctx, some, func(b batch) {
		for _, j := range some {
			recode(b.cells[j], r.coding.To[j])
		}
		r.nearest.Codes(b.cells)
		tally.Add(b.cells, r.workers)
	})
	if err != nil {
		return nil, err
	}
	for i, counts := range tally.Counts() {
		if !r.agrees(sets[i], counts) {
			return nil, errOther
		}
	}
	return tally.Counts(), nil
}

// recode makes cells codes.
func recode(cells, to []uint16) {
	for i, cell := range cells {
		cells[i] = to[cell]
	}
}

// agrees tells whether the counts of a set have the rows of each code that the first round found.
func (r *rounds) agrees(set []int, counts []int64) bool {
	after := 1
	for k := len(set) - 1; k >= 0; k-- {
		size := r.coding.Sizes[set[k]]
		if r.ones[set[k]] != nil && !slices.Equal(margin(counts, size, after), r.ones[set[k]]) {
			return false
		}
		after *= size
	}
	return true
}

// margin sums counts by the codes of a column behind which a cell has so many combinations of codes.
func margin(counts []int64, size, after int) []int64 {
	sums := make([]int64, size)
	for from := 0; from < len(counts); from += after {
		sums[from/after%size] += sum(counts[from : from+after])
	}
	return sums
}
