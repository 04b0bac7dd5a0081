package graphical

import (
	"slices"

	"weir/train/parallel"
)

// crew shares the cells of large tables among workers. How a table is cut does not
// depend on their number, so neither do the bits of a sum.
type crew struct {
	workers int
	sums    []float64 // of the pieces of a table
}

const (
	sharedCells = 1 << 17 // a smaller table is not worth a second worker
	pieces      = 8
)

func newCrew(workers int) crew {
	if workers <= 0 {
		workers = parallel.Workers(pieces)
	}
	return crew{workers: workers}
}

// shared reports whether a table is cut: sums of the pieces must be small beside it.
func shared(v *view, table []float64) bool {
	return len(table) >= sharedCells && len(v.outer) >= pieces && v.cells <= len(table)/(8*pieces)
}

func (c *crew) sum(v *view, table, part []float64) {
	if !shared(v, table) {
		v.sum(table, part)
		return
	}
	c.sums = slices.Grow(c.sums[:0], pieces*len(part))[:pieces*len(part)]
	sums := c.sums
	clear(sums)
	parallel.Do(c.workers, pieces, func(_, i int) {
		own := sums[i*len(part) : (i+1)*len(part)]
		v.sumRows(table, own, i*len(v.outer)/pieces, (i+1)*len(v.outer)/pieces)
	})
	clear(part)
	for i := range pieces {
		for k, x := range sums[i*len(part) : (i+1)*len(part)] {
			part[k] += x
		}
	}
}

func (c *crew) scale(v *view, table, part []float64) {
	if len(table) < sharedCells || len(v.outer) < pieces {
		v.scale(table, part)
		return
	}
	parallel.Do(c.workers, pieces, func(_, i int) {
		v.scaleRows(table, part, i*len(v.outer)/pieces, (i+1)*len(v.outer)/pieces)
	})
}
