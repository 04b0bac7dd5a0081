package columns

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

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

// passes is rows that are read from their table each time: one batch is in memory, however many rows there are.
type passes struct {
	table  pipeline.Table
	grids  []Grid
	fields []int
	tell   func(done, total int64) // how far a pass is
}

func passesOf(t pipeline.Table, grids []Grid, tell func(done, total int64)) (*passes, error) {
	fields, err := fieldsOf(t, grids)
	return &passes{table: t, grids: grids, fields: fields, tell: tell}, err
}

// fieldsOf returns where the columns of grids are in a table.
func fieldsOf(t pipeline.Table, grids []Grid) ([]int, error) {
	fields := make([]int, len(grids))
	for i, g := range grids {
		places := t.Schema.FieldIndices(g.Name())
		if len(places) != 1 {
			return nil, fmt.Errorf("column %s: is %d times in the table, must be there once", g.Name(), len(places))
		}
		fields[i] = places[0]
	}
	return fields, nil
}

// each implements rows.
func (p *passes) each(ctx context.Context, some []int, use func(batch)) (number int64, err error) {
	cells, within := make([][]uint16, len(p.grids)), []uint8(nil)
	var rec arrow.Record
	b := batch{cells: cells, within: func(j int) []uint8 {
		within = p.grids[j].appendWithin(within[:0], rec.Column(p.fields[j]))
		return within
	}}
	for rec, err = range p.table.Open(ctx) {
		if err != nil {
			return 0, err
		}
		for _, j := range some {
			if cells[j], err = p.grids[j].append(cells[j][:0], rec.Column(p.fields[j])); err != nil {
				return 0, fmt.Errorf("column %s: %w", p.grids[j].Name(), err)
			}
		}
		use(b)
		number += rec.NumRows()
		if public := PublicRows(p.table.Header); public > 0 { // how many private rows were read is told to nobody
			p.tell(number, public)
		}
	}
	return number, ctx.Err()
}

// packedRows is rows in memory: a byte for each cell of a grid of up to 256, two for each of a larger one, and one for
// each point of a grid whose points are told apart.
type packedRows struct {
	columns []packed
	number  int64
}

// packed is the cells of one column, in one of the two lists.
type packed struct {
	narrow bool
	few    []uint8
	many   []uint16
	told   bool
	within []uint8
}

// heldRows is rows a batch of held has: small enough for the second cache, as batches of a table are.
const heldRows = 1 << 15

// hold has room for a number of rows, which may be wrong.
func hold(grids []Grid, rows int64) *packedRows {
	h, room := &packedRows{columns: make([]packed, len(grids))}, int(min(max(rows, 0), mostAhead))
	for j, g := range grids {
		p := packed{narrow: g.Cells() <= 1<<8, told: g.HasInnerCounts()}
		if p.narrow {
			p.few = make([]uint8, 0, room)
		} else {
			p.many = make([]uint16, 0, room)
		}
		h.columns[j] = p
	}
	return h
}

// add keeps a batch of all columns; a held that is nil keeps nothing.
func (h *packedRows) add(b batch) {
	if h == nil {
		return
	}
	for j := range h.columns {
		p := &h.columns[j]
		switch {
		case p.narrow:
			for _, cell := range b.cells[j] {
				p.few = append(p.few, uint8(cell))
			}
		default:
			p.many = append(p.many, b.cells[j]...)
		}
		if p.told {
			p.within = append(p.within, b.within(j)...)
		}
	}
	if len(b.cells) > 0 {
		h.number += int64(len(b.cells[0]))
	}
}

// each implements rows.
func (h *packedRows) each(ctx context.Context, some []int, use func(batch)) (int64, error) {
	cells, first, end := make([][]uint16, len(h.columns)), int64(0), int64(0)
	b := batch{cells: cells, within: func(j int) []uint8 { return h.columns[j].within[first:end] }}
	for ; first < h.number; first = end {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		end = min(first+heldRows, h.number)
		for _, j := range some {
			cells[j] = h.columns[j].cells(cells[j][:0], first, end)
		}
		use(b)
	}
	return h.number, ctx.Err()
}

// cells appends the cells of some rows.
func (p *packed) cells(dst []uint16, first, limit int64) []uint16 {
	if !p.narrow {
		return append(dst, p.many[first:limit]...)
	}
	for _, cell := range p.few[first:limit] {
		dst = append(dst, uint16(cell))
	}
	return dst
}
