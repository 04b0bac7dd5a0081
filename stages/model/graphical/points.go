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
func (o *oneWay) releasePoints(points pointing, p *purse, cost float64) error {
	cells := o.heaps()
	if len(cells) == 0 {
		return nil
	}
	counts, err := points(cells)
	if err != nil {
		return err
	}
	y, err := p.histogram(counts, cost)
	if err != nil {
		return err
	}
	o.measured = append(o.measured, measured{Within: cells, Y: y.Y, Sigma: y.sd()})
	o.within = map[int][]float64{}
	left := y.Y
	for _, cell := range cells {
		own := left[:o.grid.PointsIn(cell)]
		o.within[cell], left = histogram.Simplex(own, max(total(own), 1)), left[len(own):]
	}
	return nil
}

// heaps lists the cells that hold one.
func (o *oneWay) heaps() (cells []int) {
	for _, l := range o.counted.Leaves(o.rows) {
		if l.Hi-l.Lo == 1 && l.Count >= heap*math.Sqrt(l.Var) && o.grid.PointsIn(l.Lo) > 1 {
			cells = append(cells, l.Lo)
		}
	}
	return cells
}
