package graphical

import (
	"context"
	"math"
	"slices"

	"weir/train/graphical"
	"weir/train/histogram"
)

// Columns on their own are estimated before the fit, from all that was released of them, and
// the model then has these counts exactly: a model gives every code a positive count, so that
// where noise drowns the rare ones, what a fit leaves of each adds up to many times of what
// was counted of all (docs/marginals.md section 3).

// lone is a column's counts by code before their noise is judged.
type lone struct {
	y, variance []float64
	rare        []bool
}

const (
	met       = 1e-5 // of the rows, by which a model may miss the count of a code
	leastRows = 1e-3 // of a code: none is ruled out
)

// estimate fits a model of a tree to tables of several columns. Where columns are estimated
// before, it has their counts; columns that masks tie together may have contradicted each other
// or the masks, and are then met as nearly as their noise asks.
func (f *front) estimate(ctx context.Context, tree *graphical.Tree, tables []graphical.Table, o graphical.Options) (
	*graphical.Model, error) {
	fit := graphical.Fit
	if f.published {
		fit = fitPublished
	}
	if !f.settled {
		m, _, err := fit(ctx, tree, f.rows, tables, f.masks, o)
		return m, err
	}
	ones, variances := f.ones()
	o.Near, o.Lenient = met, true
	m, report, err := fit(ctx, tree, f.rows, slices.Concat(tables, ones), f.masks, o)
	if err != nil || report.Off <= met*f.rows {
		return m, err
	}
	for i, t := range ones {
		if f.tied(t.Vars[0]) {
			ones[i].Var = loosened(variances[i], t.Y)
		}
	}
	m, _, err = fit(ctx, tree, f.rows, slices.Concat(tables, ones), f.masks, o)
	return m, err
}

// loosened returns variances of which none is 0: a settled count may be off by its root.
func loosened(variances, y []float64) []float64 {
	out := slices.Clone(variances)
	for k, v := range variances {
		if v == 0 {
			out[k] = max(y[k], 1)
		}
	}
	return out
}

// tied tells whether a mask is about a column.
func (f *front) tied(column int) bool {
	return slices.ContainsFunc(f.masks, func(m graphical.Mask) bool { return slices.Contains(m.Vars, column) })
}

// ones returns the counts of each column as tables of no variance, and the variances of what they
// are estimated from.
func (f *front) ones() (tables []graphical.Table, variances [][]float64) {
	var all []lone
	for j := range f.columns {
		all = append(all, f.lone(j))
	}
	settleRare(all)
	for j, one := range all {
		if one.y == nil { // of a file: nothing counts it
			continue
		}
		tables = append(tables, graphical.Table{Vars: graphical.Set{j}, Y: one.summing(f.rows),
			Var: make([]float64, len(one.y))})
		variances = append(variances, one.variance)
	}
	return tables, variances
}

// lone returns the mean of all tables that hold a column, by precision, with the rows that the
// model has. Codes of no variance stay as they are: what was settled of a number is known from
// what lies around it.
func (f *front) lone(j int) lone {
	var one lone
	sizes := f.sizes()
	sums, weights := make([]float64, sizes[j]), make([]float64, sizes[j])
	fixed := make([]bool, sizes[j])
	for _, t := range f.tables {
		if !slices.Contains(t.Vars, j) {
			continue
		}
		y, variance := summed(sizes, t, graphical.Set{j})
		for k := range y {
			switch {
			case fixed[k]:
			case variance[k] == 0:
				sums[k], weights[k], fixed[k] = y[k], 1, true
			default:
				sums[k], weights[k] = sums[k]+y[k]/variance[k], weights[k]+1/variance[k]
			}
		}
	}
	for k := range sums {
		if weights[k] == 0 {
			return lone{}
		}
		v := 1 / weights[k]
		if fixed[k] {
			v = 0
		}
		one.y, one.variance = append(one.y, sums[k]/weights[k]), append(one.variance, v)
	}
	one.y = summingTo(one.y, one.variance, f.rows)
	one.rare = f.columns[j].rare(one.y, one.variance)
	return one
}

// rare tells which codes noise may drown: of categories, and missing ones of numbers. One code
// at least is not.
func (c *coded) rare(y, variance []float64) []bool {
	list, any, most := make([]bool, len(y)), false, 0
	for k := range y {
		list[k] = (c.Order != nil || k >= len(c.Bins)) && y[k] < rare*math.Sqrt(variance[k])
		any = any || !list[k]
		if y[k] > y[most] {
			most = k
		}
	}
	if !any {
		list[most] = false
	}
	return list
}

// settleRare estimates the counts of the rare codes of all columns together. No estimate that
// looks at one of them alone and is never negative is unbiased; the estimate of their sum is, and how
// many rows a rare code has, on average, it tells. With this mean for the mean of an exponential
// prior each gets its posterior mean, scaled so that their sum is the sum that was counted, but
// at least leastUsual of their standard deviations, which is the bias that is left.
func settleRare(all []lone) {
	var y, sd []float64
	for _, one := range all {
		for k, is := range one.rare {
			if is {
				y, sd = append(y, one.y[k]), append(sd, math.Sqrt(one.variance[k]))
			}
		}
	}
	if len(y) == 0 {
		return
	}
	counts := posteriorMeans(y, sd)
	for _, one := range all {
		for k, is := range one.rare {
			if is {
				one.y[k], counts = counts[0], counts[1:]
			}
		}
	}
}

// posteriorMeans returns the posterior means of counts, which sum to what was counted of all.
func posteriorMeans(y, sd []float64) []float64 {
	counts, mean := make([]float64, len(y)), usual(y, total(sd)/float64(len(sd)))
	for i := range y {
		counts[i] = histogram.Posterior(y[i], max(sd[i], leastSpread), mean)
	}
	by := mean * float64(len(y)) / total(counts)
	for i := range counts {
		counts[i] *= by
	}
	return counts
}

// leastUsual is the least mean of rare counts, in standard deviations of one.
const leastUsual = 0.1

// usual returns the mean of rare counts, which are not below 0 whatever their noise.
func usual(y []float64, sd float64) float64 {
	return max(total(y)/float64(len(y)), leastUsual*sd, leastRows)
}

// summing returns the counts of a column that sum to the rows: rare and settled ones as they are,
// the others the nearest that are not below 0.
func (l lone) summing(rows float64) []float64 {
	counts, rest := slices.Clone(l.y), rows
	var open []int
	var y, variance []float64
	for k := range counts {
		if l.rare[k] || l.variance[k] == 0 {
			rest -= counts[k]
			continue
		}
		open, y, variance = append(open, k), append(y, l.y[k]), append(variance, l.variance[k])
	}
	for i, count := range histogram.Nearest(y, variance, rest) {
		counts[open[i]] = count
	}
	whole := 0.0
	for k := range counts {
		counts[k] = max(counts[k], leastRows)
		whole += counts[k]
	}
	for k := range counts {
		counts[k] *= rows / whole
	}
	return counts
}
