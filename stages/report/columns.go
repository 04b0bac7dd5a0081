package report

import (
	"math"

	"weir/pipeline/domain"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric/distance"
	"weir/train/parallel"
)

// mostBins is the number of bins of a histogram.
const mostBins = 30

// drawColumns counts the bars of each column; both frames are aligned.
func drawColumns(real, synthetic *columns.Frame, workers int) []report.Column {
	list := make([]report.Column, len(real.Columns))
	parallel.Do(workers, len(list), func(_, i int) {
		list[i] = drawColumn(&real.Columns[i], &synthetic.Columns[i], real.Rows, synthetic.Rows)
	})
	return list
}

func drawColumn(real, synthetic *columns.Column, realRows, synRows int) report.Column {
	c := report.Column{Name: real.Name, Type: string(real.Type), RealMissing: missingShare(real, realRows), SyntheticMissing: missingShare(synthetic, synRows)}
	if real.Coded() {
		c.Labels = real.Categories
		c.Real, c.Synthetic = codeShares(real), codeShares(synthetic)
		c.RealSummary, c.SynSummary = noSummary(), noSummary()
		return c
	}
	x, y := distance.Sorted(real.Numbers), distance.Sorted(synthetic.Numbers)
	c.RealSummary, c.SynSummary = summarise(x), summarise(y)
	if len(x)+len(y) == 0 {
		return c
	}
	t := newTail(real, x, y)
	t.describe(&c)
	a, b := t.others(x), t.others(y)
	c.Edges = t.edges(real, a, b)
	var beyondReal, beyondSyn int
	c.Real, beyondReal = binShares(a, c.Edges, len(x))
	c.Synthetic, beyondSyn = binShares(b, c.Edges, len(y))
	c.Beyond = beyondReal + beyondSyn
	return c
}

func missingShare(c *columns.Column, rows int) float64 { return float64(c.Missing()) / float64(rows) }

// codeShares are the shares of the categories among rows with a value; none
// where there is no such row.
func codeShares(c *columns.Column) []float64 {
	counts, n := make([]float64, len(c.Categories)), 0.0
	for _, v := range c.Codes {
		if v >= 0 {
			counts[v]++
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for i := range counts {
		counts[i] /= n
	}
	return counts
}

func noSummary() report.Summary {
	n := math.NaN()
	return report.Summary{Mean: n, SD: n, Least: n, Median: n, Greatest: n}
}

// summarise sorted values; the standard deviation is that of the population.
func summarise(x []float64) report.Summary {
	if len(x) == 0 {
		return noSummary()
	}
	mean := 0.0
	for i, v := range x {
		mean += (v - mean) / float64(i+1)
	}
	ss := 0.0
	for _, v := range x {
		ss += float64((v - mean) * (v - mean))
	}
	n := len(x)
	return report.Summary{Mean: mean, SD: math.Sqrt(ss / float64(n)), Least: x[0], Median: (x[(n-1)/2] + x[n/2]) / 2, Greatest: x[n-1]}
}

// histogramEdges spans both tables' values, inside the declared bounds; without
// bounds, a few values far outside the bulk of the real ones do not stretch it.
// Whole numbers get bins of whole width.
func histogramEdges(c *columns.Column, x, y []float64) []float64 {
	lo, hi := span(x, y)
	switch {
	case c.Bounds != nil:
		lo, hi = math.Max(lo, c.Bounds[0]), math.Min(hi, c.Bounds[1])
		if lo > hi { // every value lies outside
			lo, hi = c.Bounds[0], c.Bounds[1]
		}
	case len(x) > 0:
		a, b := x[len(x)/1000], x[len(x)-1-len(x)/1000]
		if wide := b - a; wide > 0 && hi-lo > 5*wide {
			lo, hi = math.Max(lo, a-wide/10), math.Min(hi, b+wide/10)
		}
	}
	if c.Type != domain.Numeric {
		return wholeEdges(math.Floor(lo), math.Ceil(hi))
	}
	if lo == hi {
		return []float64{lo - 0.5, hi + 0.5}
	}
	return evenEdges(lo, hi-lo, mostBins)
}

func span(x, y []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range [][]float64{x, y} {
		if len(v) > 0 {
			lo, hi = math.Min(lo, v[0]), math.Max(hi, v[len(v)-1])
		}
	}
	return lo, hi
}

func wholeEdges(lo, hi float64) []float64 {
	width := math.Ceil((hi - lo + 1) / mostBins)
	bins := int(math.Ceil((hi - lo + 1) / width))
	return evenEdges(lo-0.5, width*float64(bins), bins)
}

func evenEdges(lo, length float64, bins int) []float64 {
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = lo + length*float64(i)/float64(bins)
	}
	return edges
}

// binShares counts sorted values into right-open bins, the last closed, as shares of n; values
// outside go to the end bins and are counted in beyond. There are none where n is 0.
func binShares(x, edges []float64, n int) (shares []float64, beyond int) {
	if n == 0 {
		return nil, 0
	}
	last := len(edges) - 2
	shares = make([]float64, last+1)
	k := 0
	for _, v := range x {
		for k < last && v >= edges[k+1] {
			k++
		}
		if v < edges[0] || v > edges[last+1] {
			beyond++
		}
		shares[k]++
	}
	for i := range shares {
		shares[i] /= float64(n)
	}
	return shares, beyond
}

// dimensionWise are the shares of every category that either table has (Choi et
// al. 2017, dimension-wise probability); of two categories the second's, which the
// first mirrors.
func dimensionWise(columns []report.Column) []report.Point {
	var points []report.Point
	for _, c := range columns {
		if len(c.Real) == 0 || len(c.Synthetic) == 0 {
			continue
		}
		for k, label := range c.Labels {
			if len(c.Labels) == 2 && k == 0 {
				continue
			}
			points = append(points, report.Point{X: c.Real[k] * (1 - c.RealMissing), Y: c.Synthetic[k] * (1 - c.SyntheticMissing), Label: c.Name + "=" + label})
		}
	}
	return points
}
