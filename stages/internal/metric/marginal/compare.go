package marginal

import (
	"math"

	"weir/stages/internal/metric/distance"
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

// compare counts one query. L1 and MaxCell are summed in whole numbers, so that
// they are exact and no order of summation shows.
func (t *Table) compare(c *counter, query []int) Comparison {
	c.reset(t, query)
	c.add(t, query, false)
	c.add(t, query, true)
	r := Comparison{Cells: 1}
	for _, q := range query {
		r.Cells *= float64(t.Columns[q].Cells)
	}
	n, m := int64(t.Real), int64(t.Synth)
	c.p, c.q = c.p[:0], c.q[:0]
	sum, worst := int64(0), int64(0)
	c.each(func(a, b int64) {
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
