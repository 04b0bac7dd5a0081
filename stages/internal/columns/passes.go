package columns

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/stages/internal/masks"
	"weir/train/marginal"
)

// passes is a Counter that reads the rows anew whenever it is asked. Its memory is that of counts and of one batch of
// rows, however many there are. Nothing but time follows from the number of rows: which sets are counted in one pass
// goes by their cells.
//
// Each pass is held to the first one: the number of rows, and in each set the rows of each code. A table that has
// changed in between ends the stage (pipeline.ErrChanged), since noise of several rounds is drawn for one table.
type passes struct {
	table   pipeline.Table
	grids   []Grid
	fields  []int
	rows    int64
	cells   [][]int64
	workers int

	coding  Coding
	nearest *masks.Nearest
	tied    []int     // columns of Forbidden, whose codes go by each other
	ones    [][]int64 // the rows of each code; nil of tied columns
}

func inPasses(ctx context.Context, t pipeline.Table, grids []Grid, workers int) (*passes, error) {
	fields, err := fieldsOf(t, grids)
	if err != nil {
		return nil, err
	}
	p := &passes{table: t, grids: grids, fields: fields, workers: workers, cells: make([][]int64, len(grids))}
	for j := range grids {
		p.cells[j] = make([]int64, grids[j].Cells())
	}
	p.rows, err = p.pass(ctx, everyColumn(len(grids)), func(_ arrow.Record, cells [][]uint16) {
		for j := range cells {
			addCells(p.cells[j], cells[j])
		}
	})
	return p, err
}

func everyColumn(n int) []int {
	list := make([]int, n)
	for j := range list {
		list[j] = j
	}
	return list
}

// pass reads all rows once and hands on the cells of some columns, batch by batch; those of the others are nil.
func (p *passes) pass(ctx context.Context, some []int, use func(rec arrow.Record, cells [][]uint16)) (rows int64, err error) {
	cells := make([][]uint16, len(p.grids))
	for rec, err := range p.table.Open(ctx) {
		if err != nil {
			return 0, err
		}
		for _, j := range some {
			if cells[j], err = p.grids[j].append(cells[j][:0], rec.Column(p.fields[j])); err != nil {
				return 0, fmt.Errorf("column %s: %w", p.grids[j].Name(), err)
			}
		}
		use(rec, cells)
		rows += rec.NumRows()
	}
	return rows, ctx.Err()
}

// again is a pass behind the first.
func (p *passes) again(ctx context.Context, some []int, use func(rec arrow.Record, cells [][]uint16)) error {
	rows, err := p.pass(ctx, some, use)
	if err == nil && rows != p.rows {
		err = errOther
	}
	return err
}

// errOther says that two passes read two tables.
var errOther = fmt.Errorf("the table %w", pipeline.ErrChanged)

// Rows implements Counter.
func (p *passes) Rows() int64 { return p.rows }

// Cells implements Counter.
func (p *passes) Cells(column int) []int64 { return p.cells[column] }

// Points implements Counter.
func (p *passes) Points(ctx context.Context, column int, cells []int) ([]int64, error) {
	var within []uint8
	at := pointsOf(&p.grids[column], cells)
	err := p.again(ctx, []int{column}, func(rec arrow.Record, all [][]uint16) {
		within = p.grids[column].appendWithin(within[:0], rec.Column(p.fields[column]))
		at.add(all[column], within)
	})
	for _, cell := range cells {
		rows := int64(0)
		for _, n := range at.counts[at.from[cell]:][:p.grids[column].PointsIn(cell)] {
			rows += n
		}
		if err == nil && rows != p.cells[column][cell] {
			err = errOther
		}
	}
	return at.counts, err
}

// Recode implements Counter.
func (p *passes) Recode(c Coding) {
	p.coding, p.nearest = c, masks.NewNearest(c.Forbidden, c.Sizes)
	for _, m := range c.Forbidden {
		p.tied = append(p.tied, m.Vars...)
	}
	slices.Sort(p.tied)
	p.tied = slices.Compact(p.tied)
	p.ones = make([][]int64, len(c.To))
	for j, to := range c.To {
		if slices.Contains(p.tied, j) {
			continue
		}
		p.ones[j] = make([]int64, c.Sizes[j])
		for cell, code := range to {
			p.ones[j][code] += p.cells[j][cell]
		}
	}
}

// Count implements Counter.
func (p *passes) Count(ctx context.Context, sets [][]int, use func(set int, counts []int64) error) error {
	return countEach(ctx, p.coding.Sizes, sets, use, p.count)
}

// count counts sets in one pass.
func (p *passes) count(ctx context.Context, sets [][]int) ([][]int64, error) {
	tally, err := marginal.NewTally(p.coding.Sizes, sets)
	if err != nil {
		return nil, err
	}
	some := slices.Concat(append(slices.Clone(sets), p.tied)...)
	slices.Sort(some)
	some = slices.Compact(some)
	err = p.again(ctx, some, func(_ arrow.Record, codes [][]uint16) {
		for _, j := range some {
			recode(codes[j], p.coding.To[j])
		}
		p.nearest.Codes(codes)
		tally.Add(codes, p.workers)
	})
	if err != nil {
		return nil, err
	}
	for i, counts := range tally.Counts() {
		if !p.agrees(sets[i], counts) {
			return nil, errOther
		}
	}
	return tally.Counts(), nil
}

// agrees tells whether the counts of a set have the rows of each code that the first pass found.
func (p *passes) agrees(set []int, counts []int64) bool {
	after := 1
	for k := len(set) - 1; k >= 0; k-- {
		size := p.coding.Sizes[set[k]]
		if p.ones[set[k]] != nil && !slices.Equal(margin(counts, size, after), p.ones[set[k]]) {
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
		sum := int64(0)
		for _, n := range counts[from : from+after] {
			sum += n
		}
		sums[from/after%size] += sum
	}
	return sums
}
