package graphical

import (
	"math"
	"slices"
	"sort"

	"weir/stages/internal/columns"
	"weir/train/histogram"
)

// oneWay is one column while it is released.
type oneWay struct {
	grid     columns.Grid
	rows     float64 // public; 0: not
	counts   noisy   // of each cell, of categories and small grids
	leaves   []histogram.Leaf
	missing  float64           // of a tree
	within   map[int][]float64 // of its cells that are heaps: counts of their points
	level    noisy             // noise of a level of a tree
	measured []measured
	cuts     []int // cells at which rules want bins to begin
	parts    []int // of categories that rules tell apart

	sum, sumVariance float64 // of all rows
}

// release counts a column and releases it. fine holds cells of the grid, within the
// points inside them where these are told apart.
func (o *oneWay) release(fine []uint16, within []uint8, p *purse, cost float64) error {
	counts := make([]int64, o.grid.Cells())
	for _, cell := range fine {
		counts[cell]++
	}
	if o.grid.Coded() || o.grid.Values() <= flat {
		return o.releaseCells(counts, p, cost)
	}
	levels := histogram.Levels(o.grid.Values())
	if !o.grid.Told() { // of the grid: an empty table has no within
		return o.releaseTree(counts, levels, p, cost/float64(levels))
	}
	each := cost / float64(levels+1)
	if err := o.releaseTree(counts, levels, p, each); err != nil {
		return err
	}
	return o.releasePoints(fine, within, p, each)
}

func (o *oneWay) releaseCells(counts []int64, p *purse, cost float64) (err error) {
	if o.counts, err = p.histogram(counts, cost); err != nil {
		return err
	}
	o.sum, o.sumVariance = total(o.counts.Y), float64(len(counts))*o.counts.Variance
	o.measured = []measured{{Y: o.counts.Y, Sigma: o.counts.sd()}}
	return nil
}

// releaseTree releases level after level, each a histogram over disjoint ranges of
// cells. Missing values are a cell of the first. What levels cost that are not
// reached stays for later releases of the stage.
func (o *oneWay) releaseTree(counts []int64, levels int, p *purse, each float64) (err error) {
	points, missing := o.grid.Values(), counts[o.grid.Values():]
	before := make([]int64, points+1)
	for i, n := range counts[:points] {
		before[i+1] = before[i] + n
	}
	ask := func(level int, nodes [][2]int) ([]float64, error) {
		counts := make([]int64, len(nodes), len(nodes)+1)
		for i, node := range nodes {
			counts[i] = before[node[1]] - before[node[0]]
		}
		if level == 1 {
			counts = append(counts, missing...)
		}
		return o.releaseLevel(nodes, counts, p, each)
	}
	sd := math.Sqrt(variance(p.sigma(each)))
	o.leaves, err = histogram.Tree(points, levels, sd, o.root, ask)
	return err
}

func (o *oneWay) releaseLevel(nodes [][2]int, counts []int64, p *purse, cost float64) ([]float64, error) {
	y, err := p.histogram(counts, cost)
	if err != nil {
		return nil, err
	}
	cells := nodes
	if len(counts) > len(nodes) { // missing values, behind those of the first level
		o.missing = y.Y[len(nodes)]
		cells = append(cells[:len(nodes):len(nodes)], [2]int{o.grid.Values(), o.grid.Cells()})
	}
	if len(o.measured) == 0 {
		o.sum, o.sumVariance = total(y.Y), float64(len(counts))*y.Variance
	}
	o.measured, o.level = append(o.measured, measured{Cells: cells, Y: y.Y, Sigma: y.sd()}), y
	return y.Y[:len(nodes)], nil
}

// root is the count of all values: the public rows, less the released missing ones;
// else what the first level holds.
func (o *oneWay) root(sum float64) (rows, variance float64) {
	switch {
	case o.rows > 0 && o.grid.Cells() == o.grid.Values():
		return o.rows, 0
	case o.rows > 0:
		return max(o.rows-o.missing, 0), o.level.Variance
	}
	return max(sum, 0), math.Inf(1)
}

// coded makes a released column codes, with noisy counts of each and their variances.
func (o *oneWay) coded(s Columns, name string, rows, mu float64) (c coded, y, variances []float64) {
	if o.grid.Coded() {
		c = ofCategories(o.counts).parted(o.parts)
	} else {
		leaves, sd := o.line(rows)
		c = o.binned(s, name, leaves, sd, rows, mu)
		c.Within = o.within
	}
	y, variances = make([]float64, c.codes()), make([]float64, c.codes())
	if o.counts.Y != nil {
		for cell, code := range c.codeOf() {
			y[code] += o.counts.Y[cell]
			variances[code] += o.counts.Variance
		}
		return c, y, variances
	}
	for b, bin := range c.Bins {
		for _, l := range c.Leaves[bin[0]:bin[1]] {
			y[b] += l.Count
			variances[b] += l.Var
		}
	}
	if o.grid.Cells() > o.grid.Values() {
		y[len(y)-1], variances[len(y)-1] = o.missing, o.level.Variance
	}
	return c, y, variances
}

// line is the estimated histogram of a number, and the noise of a leaf.
func (o *oneWay) line(rows float64) ([]histogram.Leaf, float64) {
	if o.leaves != nil {
		return o.leaves, o.level.sd()
	}
	points := o.grid.Values()
	present := rows - total(o.counts.Y[points:])
	leaves := make([]histogram.Leaf, points)
	for i, n := range histogram.Haar(o.counts.Y[:points], o.counts.sd(), max(present, 0)) {
		leaves[i] = histogram.Leaf{Lo: i, Hi: i + 1, Count: n, Var: o.counts.Variance}
	}
	return leaves, o.counts.sd()
}

// cuts are the cells at which bins begin whose lower edges are given: the first with
// no value below the edge. Edges before which no cell lies divide nothing.
func cuts(g columns.Grid, edges []float64) []int {
	var at []int
	for _, edge := range edges {
		cell := sort.Search(g.Values(), func(cell int) bool {
			least, _ := g.Interval(cell)
			return least >= edge
		})
		if cell > 0 && cell < g.Values() {
			at = append(at, cell)
		}
	}
	return slices.Compact(at)
}

func (o *oneWay) binned(s Columns, name string, leaves []histogram.Leaf, sd, rows, mu float64) coded {
	if edges, declared := s.Edges[name]; declared {
		cuts := slices.Sorted(slices.Values(slices.Concat(cuts(o.grid, edges[1:len(edges)-1]), o.cuts)))
		leaves = splitAt(leaves, cuts)
		return ofNumber(o.grid.Cells(), leaves, cutAt(leaves, cuts))
	}
	leaves, ranges := divide(leaves, s.ranges(leaves, rows, mu, sd), o.cuts)
	return ofNumber(o.grid.Cells(), leaves, ranges)
}
