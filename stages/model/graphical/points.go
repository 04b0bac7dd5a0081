package graphical

import (
	"math"

	"weir/train/histogram"
)

// heap is how many standard deviations of a level a single cell of several points has
// to show before its points are counted one by one.
const heap = 5

// releasePoints is one level more of a tree, where a cell has several points: the
// points of the cells that hold a heap, such as the 0 of a capital gain, which would
// else come back as any point of its cell. It is a histogram over disjoint cells like
// every level. Without such a cell nothing is released.
func (o *oneWay) releasePoints(fine []uint16, within []uint8, p *purse, cost float64) error {
	at, cells, points := o.heaps()
	if len(cells) == 0 {
		return nil
	}
	counts := make([]int64, points)
	for i, cell := range fine {
		if from := at[cell]; from >= 0 {
			counts[int(from)+int(within[i])]++
		}
	}
	y, err := p.histogram(counts, cost)
	if err != nil {
		return err
	}
	o.measured = append(o.measured, measured{Within: cells, Y: y.Y, Sigma: y.sd()})
	o.within = map[int][]float64{}
	for _, cell := range cells {
		own := y.Y[at[cell]:][:o.grid.PointsIn(cell)]
		o.within[cell] = histogram.Simplex(own, max(total(own), 1))
	}
	return nil
}

// heaps lists the cells that hold one. at is, for each cell of the grid, where its
// points begin among those of all heaps; -1 for the other cells.
func (o *oneWay) heaps() (at []int32, cells []int, points int) {
	at = make([]int32, o.grid.Cells())
	for cell := range at {
		at[cell] = -1
	}
	for _, l := range o.counted.Leaves(o.rows) {
		if l.Hi-l.Lo == 1 && l.Count >= heap*math.Sqrt(l.Var) && o.grid.PointsIn(l.Lo) > 1 {
			at[l.Lo] = int32(points)
			cells, points = append(cells, l.Lo), points+o.grid.PointsIn(l.Lo)
		}
	}
	return at, cells, points
}
