package columns

import (
	"context"

	"weir/pipeline"
	"weir/stages/internal/masks"
	"weir/train/marginal"
)

// held is a Counter that holds the cells of all rows, two bytes each (Codes), and counts them again and again.
type held struct {
	*Codes
	grids   []Grid
	cells   [][]int64
	workers int
}

func hold(ctx context.Context, t pipeline.Table, grids []Grid, workers int) (*held, error) {
	codes, err := ReadCodes(ctx, t, grids)
	if err != nil {
		return nil, err
	}
	h := &held{Codes: codes, grids: grids, workers: workers}
	for j, cells := range codes.Columns {
		counts := make([]int64, grids[j].Cells())
		addCells(counts, cells)
		h.cells = append(h.cells, counts)
	}
	return h, nil
}

// addCells counts cells.
func addCells(counts []int64, cells []uint16) {
	for _, cell := range cells {
		counts[cell]++
	}
}

// Rows implements Counter.
func (h *held) Rows() int64 { return int64(h.Codes.Rows) }

// Cells implements Counter.
func (h *held) Cells(column int) []int64 { return h.cells[column] }

// Points implements Counter.
func (h *held) Points(ctx context.Context, column int, cells []int) ([]int64, error) {
	p := pointsOf(&h.grids[column], cells)
	p.add(h.Columns[column], h.Within[column])
	return p.counts, ctx.Err()
}

// Recode implements Counter.
func (h *held) Recode(c Coding) {
	for j, to := range c.To {
		recode(h.Columns[j], to)
	}
	h.Sizes, h.Within = c.Sizes, nil
	masks.NewNearest(c.Forbidden, c.Sizes).Codes(h.Columns)
}

// recode makes cells codes.
func recode(cells, to []uint16) {
	for i, cell := range cells {
		cells[i] = to[cell]
	}
}

// Count implements Counter.
func (h *held) Count(ctx context.Context, sets [][]int, use func(set int, counts []int64) error) error {
	return countEach(ctx, h.Sizes, sets, use, func(_ context.Context, sets [][]int) ([][]int64, error) {
		return marginal.Count(h.Columns, h.Sizes, sets, h.workers)
	})
}

// points counts the rows at the points of some cells of a column.
type points struct {
	from   []int32 // of each cell of the grid, where its points begin; -1: not counted
	counts []int64
}

func pointsOf(g *Grid, cells []int) *points {
	p, n := &points{from: make([]int32, g.Cells())}, 0
	for cell := range p.from {
		p.from[cell] = -1
	}
	for _, cell := range cells {
		p.from[cell] = int32(n)
		n += g.PointsIn(cell)
	}
	p.counts = make([]int64, n)
	return p
}

// add counts values by their cells and the points in them.
func (p *points) add(cells []uint16, within []uint8) {
	for i, cell := range cells {
		if from := p.from[cell]; from >= 0 {
			p.counts[int(from)+int(within[i])]++
		}
	}
}
