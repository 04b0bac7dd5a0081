package columns

import (
	"context"
	"slices"

	"weir/pipeline"
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
	within func(column int) []uint8 // the points in the cells of a column with HasInnerCounts
}

// rounds is a Counter that reads its rows once a round: held ones from memory, others from their table. Nothing but
// time follows from the number of rows: which sets are counted in one round goes by their cells.
//
// Each round is held to the first one: the number of rows, and in each set the rows of each code. A table that has
// changed in between ends the stage (pipeline.ErrChanged), since noise of several rounds is drawn for one table.
type rounds struct {
	checked
	rows    rows
	workers int
}

// roundsOf reads a table once. It goes on with what was kept of its rows then, or with the table where keep is nil.
func roundsOf(ctx context.Context, t pipeline.Table, grids []Grid, keep *packedRows, env *pipeline.Env) (*rounds,
	error) {
	source, err := passesOf(t, grids, env.Progress)
	if err != nil {
		return nil, err
	}
	r := &rounds{checked: checkedOf(grids), rows: source, workers: env.Workers}
	all := make([]int, len(grids))
	for j := range grids {
		all[j], r.cells[j] = j, make([]int64, grids[j].Cells())
	}
	r.number, err = source.each(ctx, all, func(b batch) {
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

// again makes a round behind the first.
func (r *rounds) again(ctx context.Context, some []int, use func(batch)) error {
	number, err := r.rows.each(ctx, some, use)
	if err == nil && number != r.number {
		err = errOther
	}
	return err
}

// Points implements Counter.
func (r *rounds) Points(ctx context.Context, column int, cells []int) ([]int64, error) {
	src, points := r.placesOf(column, cells)
	counts := make([]int64, points+1)
	err := r.again(ctx, []int{column}, func(b batch) {
		within := b.within(column)
		for i, cell := range b.cells[column] {
			if at := src[cell]; at > 0 {
				counts[at+int64(within[i])]++
			}
		}
	})
	if err == nil && !r.agreesWithin(column, cells, counts[1:]) {
		err = errOther
	}
	return counts[1:], err
}

// Count implements Counter.
func (r *rounds) Count(ctx context.Context, sets [][]int, use func(set int, counts []int64) error) error {
	for first := 0; first < len(sets); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := inOneRound(r.coding.Sizes, sets[first:])
		all, err := r.count(ctx, sets[first:first+n])
		if err != nil {
			return err
		}
		for k, counts := range all {
			if err := use(first+k, counts); err != nil {
				return err
			}
		}
		first += n
	}
	return nil
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
