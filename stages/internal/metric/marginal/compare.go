package marginal

import (
	"math"

	"weir/stages/internal/metric/distance"
	"weir/train/marginal"
)

// Comparison is one marginal of both tables.
type Comparison struct {
	// Distances of the shares, over the union of occupied cells; NaN where a
	// table has no rows.
	distance.Discrete
	Occupied int     // cells that hold a row of either table
	Cells    float64 // cells of the domain: product of Column.Cells
	MaxCell  float64 // greatest |share real - share synthetic| of a cell
}

// comparer compares one query at a time and keeps its memory for the next one.
type comparer struct {
	marginal.Counter
	sizes       []int
	real, synth [][]uint16
	p, q        []float64
}

// compare counts one query. L1 and MaxCell are summed in whole numbers, so that
// they are exact and no order of summation shows.
func (t *Table) compare(c *comparer, query []int) Comparison {
	c.sizes, c.real, c.synth = c.sizes[:0], c.real[:0], c.synth[:0]
	for _, q := range query {
		col := &t.Columns[q]
		c.sizes, c.real, c.synth = append(c.sizes, col.Size), append(c.real, col.Real), append(c.synth, col.Synth)
	}
	c.Reset(c.sizes)
	c.Add(0, c.real...)
	c.Add(1, c.synth...)
	r := Comparison{Cells: 1}
	for _, q := range query {
		r.Cells *= float64(t.Columns[q].Cells)
	}
	n, m := int64(t.Real), int64(t.Synth)
	c.p, c.q = c.p[:0], c.q[:0]
	sum, worst := int64(0), int64(0)
	c.Each(func(_ uint64, rows [2]int64) {
		a, b := rows[0], rows[1]
		gap := a*m - b*n
		if gap < 0 {
			gap = -gap
		}
		sum, worst = sum+gap, max(worst, gap)
		c.p, c.q = append(c.p, float64(a)/float64(n)), append(c.q, float64(b)/float64(m))
	})
	r.Occupied = len(c.p)
	if n == 0 || m == 0 {
		r.Discrete, r.MaxCell = distance.NewDiscrete(nil, nil), math.NaN()
		return r
	}
	r.Discrete = distance.NewDiscrete(c.p, c.q)
	r.L1 = float64(sum) / float64(n) / float64(m)
	r.TotalVariation, r.MaxCell = r.L1/2, float64(worst)/float64(n)/float64(m)
	return r
}
