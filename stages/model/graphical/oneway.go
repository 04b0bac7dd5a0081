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
	rows     float64           // public; 0: not
	counts   noisy             // of each cell, of categories and of numbers of few cells
	counted  line              // other numbers
	tree     bool              // whose cells were not all counted
	missing  noisy             // of a counted number: one count
	within   map[int][]float64 // of its cells that are heaps: counts of their points
	measured []measured
	cuts     []int // cells at which rules want bins to begin
	parts    []int // of categories that rules tell apart

	sum, sumVariance float64 // of all rows
}

// pointing counts the rows at each point of cells, one cell after the other.
type pointing = func(cells []int) ([]int64, error)

// release releases a column, of whose cells these are the counts.
func (o *oneWay) release(counts []int64, points pointing, p *purse, cost float64) error {
	if o.grid.Coded() || o.grid.Values() <= fewCells {
		return o.releaseCells(counts, p, cost)
	}
	if o.flat(p.sigma(cost)) {
		return o.releaseLine(counts, p, cost, scout)
	}
	o.tree = true
	if !o.grid.Told() {
		return o.releaseLine(counts, p, cost, tree)
	}
	if err := o.releaseLine(counts, p, cost*(1-ofPoints), tree); err != nil {
		return err
	}
	return o.releasePoints(points, p, cost*ofPoints)
}

// flat tells whether the cells of a number are released one by one where rows are, and not
// found by a tree: few of them, unless the rows, where they are public, are too few for
// the noise of each.
func (o *oneWay) flat(sigma float64) bool {
	cells := float64(o.grid.Values())
	return cells <= mostFlat && (o.rows == 0 || o.rows >= flatRows*cells*sigma)
}

const (
	fewCells = 8   // of a number that are all released at once
	mostFlat = 256 // cells of a number that are released one by one
	flatRows = 0.5 // standard deviations of noise that the rows of a cell must be worth on average
	ofPoints = 0.2 // of a column's budget, for the points of cells that are heaps
)

func (o *oneWay) releaseCells(counts []int64, p *purse, cost float64) (err error) {
	if o.counts, err = p.histogram(counts, cost); err != nil {
		return err
	}
	o.sum, o.sumVariance = total(o.counts.Y), float64(len(counts))*o.counts.Variance
	o.measured = []measured{{Y: o.counts.Y, Sigma: o.counts.sd()}}
	return nil
}

// line is a number as releases counted it, which is estimated when the rows are known.
type line interface {
	Leaves(rows float64) []histogram.Leaf
}

// counting finds a line by releases of disjoint ranges of its cells (histogram.Line).
type counting func(histogram.Line, asking) (line, error)

// asking releases the counts of ranges for a part of the budget.
type asking = func(part float64, nodes [][2]int) (y []float64, variance float64, err error)

func scout(l histogram.Line, ask asking) (line, error) { return l.Scout(ask) }

func tree(l histogram.Line, ask asking) (line, error) { return l.Tree(ask) }

// releaseLine releases ranges of cells again and again, finer where many rows are, each
// time as a histogram over disjoint ranges of all cells. Missing values are a cell of
// each.
func (o *oneWay) releaseLine(counts []int64, p *purse, cost float64, count counting) error {
	before := make([]int64, len(counts)+1)
	for i, n := range counts {
		before[i+1] = before[i] + n
	}
	points := o.grid.Values()
	l := histogram.Line{Cells: points, Missing: len(counts) > points, Total: o.rows, SD: math.Sqrt(variance(p.sigma(cost)))}
	counted, err := count(l, func(part float64, nodes [][2]int) ([]float64, float64, error) {
		counts := make([]int64, len(nodes))
		for i, node := range nodes {
			counts[i] = before[node[1]] - before[node[0]]
		}
		y, err := p.histogram(counts, cost*part)
		if err == nil {
			o.take(nodes, y)
		}
		return y.Y, y.Variance, err
	})
	o.counted = counted
	return err
}

// take keeps a release of a line.
func (o *oneWay) take(nodes [][2]int, y noisy) {
	o.measured = append(o.measured, measured{Cells: nodes, Y: y.Y, Sigma: y.sd()})
	last := len(nodes) - 1
	if nodes[last][0] == o.grid.Values() {
		o.missing = mean(o.missing, noisy{y.Y[last:], y.Variance})
	}
	w, v := 1/o.sumVariance, float64(len(nodes))*y.Variance
	if o.sumVariance == 0 {
		w = 0
	}
	o.sumVariance = 1 / (w + 1/v)
	o.sum = (float64(o.sum*w) + total(y.Y)/v) * o.sumVariance
}

// coded makes a released column codes, with noisy counts of each and their variances.
func (o *oneWay) coded(s Columns, name string, rows float64, bins int) (c coded, y, variances []float64) {
	if o.grid.Coded() {
		c = ofCategories(o.counts).parted(o.parts)
	} else {
		c = o.binned(s, name, o.line(rows), rows, bins)
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
		y[len(y)-1], variances[len(y)-1] = o.missing.Y[0], o.missing.Variance
	}
	return c, y, variances
}

// line is the estimated histogram of a number.
func (o *oneWay) line(rows float64) []histogram.Leaf {
	if o.counted != nil {
		return o.counted.Leaves(rows)
	}
	points := o.grid.Values()
	present := rows - total(o.counts.Y[points:])
	leaves := make([]histogram.Leaf, points)
	for i, n := range histogram.Haar(o.counts.Y[:points], o.counts.sd(), max(present, 0)) {
		leaves[i] = histogram.Leaf{Lo: i, Hi: i + 1, Count: n, Var: o.counts.Variance}
	}
	return leaves
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

func (o *oneWay) binned(s Columns, name string, leaves []histogram.Leaf, rows float64, bins int) coded {
	if edges, declared := s.Edges[name]; declared {
		cuts := slices.Sorted(slices.Values(slices.Concat(cuts(o.grid, edges[1:len(edges)-1]), o.cuts)))
		leaves = splitAt(leaves, cuts)
		return ofNumber(o.grid.Cells(), leaves, cutAt(leaves, cuts))
	}
	found := ranges(leaves, rows, bins)
	if !o.tree {
		found = rounded(leaves, found, o.least)
	}
	leaves, found = divide(leaves, found, o.cuts)
	return ofNumber(o.grid.Cells(), leaves, found)
}

// least is the least value of a cell.
func (o *oneWay) least(cell int) float64 {
	least, _ := o.grid.Interval(cell)
	return least
}
