package report

import (
	"math"
	"slices"
	"sort"

	"weir/pipeline/domain"
	"weir/record/report"
	"weir/stages/internal/columns"
)

// Bounds on what is a long tail: conventions of the page, for the eye alone.
const (
	leastApart = 0.5 // share of rows of one value, in either table, above which it is drawn apart
	fewValues  = 10  // columns of so few values keep all their bars
	crowded    = 0.2 // share of the axis from which on nine tenths of the values are not crowded
	gain       = 2.0 // how much more of the axis they must have on a logarithmic one
	stretches  = 120 // places of a distribution function
)

// tail says how the axis of a column of numbers is laid: with the commonest value apart where it hides the rest, and
// logarithmic where the rest is crowded at one end.
type tail struct {
	apart  bool
	value  float64
	linear float64 // of report.Column; 0 for an even axis
	x, y   []float64
}

// newTail looks at the sorted values of both tables. Dates and times have even axes.
func newTail(c *columns.Column, x, y []float64) *tail {
	t := &tail{x: x, y: y}
	lo, hi := span(x, y)
	if c.Type != domain.Numeric && c.Type != domain.Integer || math.IsInf(hi-lo, 0) || distinct(x, y) <= fewValues {
		return t
	}
	for _, own := range [][]float64{x, y} {
		if v, share := commonest(own); share > leastApart && share < 1 {
			t.apart, t.value = true, v
			break
		}
	}
	t.linear = linear(t.others(x), t.others(y))
	return t
}

// distinct counts the values of both tables.
func distinct(x, y []float64) int {
	all := slices.Concat(x, y)
	slices.Sort(all)
	return len(slices.Compact(all))
}

// commonest returns the value that most of the sorted values are, and its share.
func commonest(x []float64) (value, share float64) {
	for i := 0; i < len(x); {
		j := i + sort.Search(len(x)-i, func(k int) bool { return x[i+k] > x[i] })
		if s := float64(j-i) / float64(len(x)); s > share {
			value, share = x[i], s
		}
		i = j
	}
	return value, share
}

// others are the sorted values without the one that is drawn apart.
func (t *tail) others(x []float64) []float64 {
	if !t.apart {
		return x
	}
	lo, hi := sort.SearchFloat64s(x, t.value), sort.Search(len(x), func(i int) bool { return x[i] > t.value })
	return slices.Concat(x[:lo], x[hi:])
}

// linear returns the place beyond which the axis is logarithmic, a tenth of the median distance from 0; 0 where an even
// axis is as good: where nine tenths of the values of some table are not crowded, or would still be.
func linear(x, y []float64) float64 {
	var sizes []float64
	for _, v := range slices.Concat(x, y) {
		if v != 0 {
			sizes = append(sizes, math.Abs(v))
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	unit := sizes[len(sizes)/2] / 10
	lo, hi := span(x, y)
	part := func(place func(float64) float64) (most float64) {
		for _, v := range [][]float64{x, y} {
			if len(v) > 0 {
				most = max(most, (place(quantile(v, 0.95))-place(quantile(v, 0.05)))/(place(hi)-place(lo)))
			}
		}
		return most
	}
	even := part(func(v float64) float64 { return v })
	if log := part(func(v float64) float64 { return report.Asinh(v / unit) }); even < crowded && log > float64(gain*even) {
		return unit
	}
	return 0
}

// quantile of sorted values: the least that at least a share q do not exceed.
func quantile(x []float64, q float64) float64 {
	return x[max(0, int(math.Ceil(float64(q*float64(len(x)))))-1)]
}

// describe puts the axis on the page's column, with the distribution functions of a column that has a long tail.
func (t *tail) describe(c *report.Column) {
	c.Linear = t.linear
	if t.apart {
		part := func(x []float64) float64 { return float64(len(x)-len(t.others(x))) / float64(max(1, len(x))) }
		c.Apart = &report.Apart{Value: t.value, Real: part(t.x), Synthetic: part(t.y)}
	}
	if !t.apart && t.linear == 0 {
		return
	}
	lo, hi := span(t.x, t.y)
	at := t.stretch(lo, hi, stretches)
	if t.apart && !slices.Contains(at, t.value) {
		at = append(at, t.value, math.Nextafter(t.value, math.Inf(-1)))
		slices.Sort(at)
	}
	c.Distribution = &report.Distribution{At: at, Real: below(t.x, at), Synthetic: below(t.y, at)}
}

// stretch divides the axis from lo to hi into n equal parts, as places of n + 1 values.
func (t *tail) stretch(lo, hi float64, n int) []float64 {
	if t.linear == 0 {
		return evenEdges(lo, hi-lo, n)
	}
	at := evenEdges(report.Asinh(lo/t.linear), report.Asinh(hi/t.linear)-report.Asinh(lo/t.linear), n)
	for i, v := range at {
		at[i] = float64(t.linear * report.Sinh(v))
	}
	at[0], at[n] = lo, hi
	return at
}

// below returns the shares of the sorted values that are at most each place; none where there is no value.
func below(x, at []float64) (shares []float64) {
	for _, v := range at {
		if len(x) > 0 {
			shares = append(shares, float64(sort.Search(len(x), func(i int) bool { return x[i] > v }))/float64(len(x)))
		}
	}
	return shares
}

// edges of the bins of both tables' values. Those of whole numbers lie between them, so that no bin of a logarithmic
// axis is empty for want of numbers.
func (t *tail) edges(c *columns.Column, x, y []float64) []float64 {
	if t.linear == 0 {
		return histogramEdges(c, x, y)
	}
	lo, hi := span(x, y)
	if c.Bounds != nil && max(lo, c.Bounds[0]) < min(hi, c.Bounds[1]) {
		lo, hi = max(lo, c.Bounds[0]), min(hi, c.Bounds[1])
	}
	edges := t.stretch(lo, hi, mostBins)
	if c.Type == domain.Integer {
		edges[0]--
		for i, v := range edges {
			edges[i] = math.Floor(v) + 0.5
		}
	}
	return slices.Compact(edges)
}
