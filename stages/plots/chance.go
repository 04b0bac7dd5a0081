package plots

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/metric"
	"weir/train/parallel"
)

// Bounds on what is done to tell changes of associations from chance. Only pairs that changed most are judged, since no
// others are listed; more rows than these have little chance left in them.
const (
	mostJudged = 20
	deals      = 199
	mostDealt  = 1500 // rows of the smaller table
	timesDealt = 4    // as many rows of the other one at most
)

// falseAlarm is the probability that the greatest of as many normal changes as there are pairs is beyond the limit.
const falseAlarm = 0.02

// beyondChance tells which associations changed by more than as many fresh real rows would. The rows of both tables are
// dealt to two tables at random. A change counts where it is further from the mean of dealt changes, in their standard
// deviations, than in any deal, and than the greatest of as many normal ones as there are pairs would be with a
// probability of falseAlarm. In small test parts pairs of rare categories have associations that are chance alone.
//
// It is a filter of a list, and no test: changes of rare categories are not normal, so that one in ten tables of one
// law with ten rare flags and 86 rows lists a pair (10 of 100, TestChanceIsNotListed), where all would.
func beyondChance(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame,
	r *report.Relations) [][]bool {
	significant := make([][]bool, len(r.Names))
	for i := range significant {
		significant[i] = make([]bool, len(r.Names))
	}
	pairs, of := mostChanged(r)
	d := newDeal(frames, env.Rand("fresh rows of associations"))
	limit := -bitmath.NormalQuantile(falseAlarm / 2 / float64(max(1, of)))
	parallel.Do(env.Workers, len(pairs), func(_, k int) {
		if ctx.Err() != nil {
			return
		}
		p := pairs[k]
		own, dealt := d.distances(p)
		significant[p[0]][p[1]] = own > max(limit, dealt)
		significant[p[1]][p[0]] = significant[p[0]][p[1]]
	})
	return significant
}

// mostChanged lists the pairs whose association changed most, of how many.
func mostChanged(r *report.Relations) (pairs [][2]int, of int) {
	change := func(p [2]int) float64 { return math.Abs(r.Synthetic[p[0]][p[1]] - r.Real[p[0]][p[1]]) }
	for i := range r.Names {
		for j := range i {
			if p := [2]int{i, j}; !math.IsNaN(change(p)) {
				pairs = append(pairs, p)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]int) int { return cmp.Compare(change(b), change(a)) })
	return pairs[:min(mostJudged, len(pairs))], len(pairs)
}

// deal is the rows of two tables, and orders that deal them to two tables of the same sizes: the first rows to one, the
// rest to the other. The first order is the order of the tables themselves.
type deal struct {
	real, synthetic *columns.Frame
	rows            []int // below real.Rows: of the real table, else of the synthetic one
	first           int
	orders          [][]int
}

// newDeal takes no more synthetic rows than the model has learnt from: such rows vary as those do.
func newDeal(frames map[string]*columns.Frame, rng *rand.Rand) *deal {
	d := &deal{real: frames["real"], synthetic: frames["synthetic"]}
	other := d.synthetic.Rows
	if train := frames["real_train"]; train != nil && train.Rows > 0 {
		other = min(other, train.Rows)
	}
	most := min(mostDealt, d.real.Rows, other)
	d.first = min(d.real.Rows, timesDealt*most)
	d.rows = append(d.rows, rng.Perm(d.real.Rows)[:d.first]...)
	for _, i := range rng.Perm(d.synthetic.Rows)[:min(other, timesDealt*most)] {
		d.rows = append(d.rows, d.real.Rows+i)
	}
	d.orders = [][]int{d.rows}
	for range deals {
		order := slices.Clone(d.rows)
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		d.orders = append(d.orders, order)
	}
	return d
}

// distances returns by how many standard deviations the change of a pair is from the mean of changes, and the greatest
// such distance of any deal. What is undefined in a deal is not a change.
func (d *deal) distances(pair [2]int) (own, greatest float64) {
	changes := make([]float64, len(d.orders))
	mean, squares := 0.0, 0.0
	for k, order := range d.orders {
		c := d.association(pair, order[:d.first]) - d.association(pair, order[d.first:])
		if math.IsNaN(c) {
			c = 0
		}
		changes[k] = c
		mean += c / float64(len(d.orders))
	}
	for _, c := range changes {
		squares += float64((c - mean) * (c - mean))
	}
	if squares == 0 {
		return 0, 0
	}
	sd := math.Sqrt(squares / float64(len(changes)))
	for k, c := range changes {
		if k > 0 {
			greatest = max(greatest, math.Abs(c-mean)/sd)
		}
	}
	return math.Abs(changes[0]-mean) / sd, greatest
}

// association returns the association of two columns among some rows of both tables.
func (d *deal) association(pair [2]int, rows []int) float64 {
	a, b := d.column(pair[0], rows), d.column(pair[1], rows)
	return metric.MixedAssociation(&a, &b)
}

func (d *deal) column(i int, rows []int) columns.Column {
	real, synthetic := &d.real.Columns[i], &d.synthetic.Columns[i]
	c := columns.Column{Name: real.Name, Type: real.Type, Categories: real.Categories}
	for _, row := range rows {
		source := real
		if row >= d.real.Rows {
			source, row = synthetic, row-d.real.Rows
		}
		if c.Coded() {
			c.Codes = append(c.Codes, source.Codes[row])
		} else {
			c.Numbers = append(c.Numbers, source.Numbers[row])
		}
	}
	return c
}

// Bounds on what is a long tail: conventions of the page, for the eye alone.
const (
	leastSpike = 0.5 // share of rows of one value, in either table, above which it is drawn apart
	fewValues  = 10  // columns of so few values keep all their bars
	crowded    = 0.2 // share of the axis from which on nine tenths of the values are not crowded
	gain       = 2.0 // how much more of the axis they must have on a logarithmic one
	stretches  = 120 // places of a distribution function
)

// tail says how the axis of a column of numbers is laid: with the commonest value apart where it hides the rest, and
// logarithmic where the rest is crowded at one end.
type tail struct {
	spiked bool
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
		if v, share := commonest(own); share > leastSpike && share < 1 {
			t.spiked, t.value = true, v
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

// others returns the sorted values without the one that is drawn apart.
func (t *tail) others(x []float64) []float64 {
	if !t.spiked {
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

// quantile returns the quantile of sorted values: the least that at least a share q do not exceed.
func quantile(x []float64, q float64) float64 {
	return x[max(0, int(math.Ceil(float64(q*float64(len(x)))))-1)]
}

// describe puts the axis on the page's column, with the distribution functions of a column that has a long tail.
func (t *tail) describe(c *report.Column) {
	c.Linear = t.linear
	if t.spiked {
		part := func(x []float64) float64 { return float64(len(x)-len(t.others(x))) / float64(max(1, len(x))) }
		c.Spike = &report.Spike{Value: t.value, Real: part(t.x), Synthetic: part(t.y)}
	}
	if !t.spiked && t.linear == 0 {
		return
	}
	lo, hi := span(t.x, t.y)
	point := t.stretch(lo, hi, stretches)
	if t.spiked && !slices.Contains(point, t.value) {
		point = append(point, t.value, math.Nextafter(t.value, math.Inf(-1)))
		slices.Sort(point)
	}
	c.Distribution = &report.Distribution{At: point, Real: sharesBelow(t.x, point), Synthetic: sharesBelow(t.y, point)}
}

// stretch divides the axis from lo to hi into n equal parts, as places of n + 1 values.
func (t *tail) stretch(lo, hi float64, n int) []float64 {
	if t.linear == 0 {
		return evenEdges(lo, hi-lo, n)
	}
	point := evenEdges(report.Asinh(lo/t.linear), report.Asinh(hi/t.linear)-report.Asinh(lo/t.linear), n)
	for i, v := range point {
		point[i] = float64(t.linear * report.Sinh(v))
	}
	point[0], point[n] = lo, hi
	return point
}

// sharesBelow returns the shares of the sorted values that are at most each place; none where there is no value.
func sharesBelow(x, at []float64) (shares []float64) {
	for _, v := range at {
		if len(x) > 0 {
			shares = append(shares, float64(sort.Search(len(x), func(i int) bool { return x[i] > v }))/float64(len(x)))
		}
	}
	return shares
}

// edges returns the edges of the bins of both tables' values. Edges of whole numbers lie between them, so that no bin
// of a logarithmic axis is empty for want of numbers.
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

// drawVariation puts the total variation of every column on the page, by the code and
// the settings of the stage `marginals` that compares the same tables, so that a page
// has one number of a column; without such a stage by its default settings.
func drawVariation(env *pipeline.Env, frames map[string]*columns.Frame, page *report.Report) {
	b, rule := binning(env)
	t := b.CodeAll(frames["real"], frames["synthetic"], env.Workers)
	values := map[string]float64{}
	for _, c := range t.Columns {
		values[c.Name] = c.TotalVariation()
	}
	for i, c := range page.Columns {
		v, ok := values[c.Name]
		if !ok {
			v = math.NaN()
		}
		page.Columns[i].TotalVariation = v
	}
	page.Variation = rule + fmt.Sprintf("Numbers are counted in %d equal bins between %s, missing values as one more.",
		b.Bins,
		map[bool]string{true: "their declared bounds, or the real extremes where none are declared",
			false: "the real extremes"}[b.Declared])
}

// binning returns how the stage of these tables counts numbers, and its name.
func binning(env *pipeline.Env) (b metric.Binning, by string) {
	b = metric.UsualBinning()
	if env.Plan == nil || env.Plan.Step(env.Stage) == nil {
		return b, ""
	}
	single := env.Plan.Step(env.Stage).Inputs
	for _, s := range env.Plan.Steps {
		var set struct {
			Bins           int
			Edges, Outside string
		}
		if s.Kind != "marginals" || !slices.Equal(s.Inputs["real"], single["real"]) || !slices.Equal(s.Inputs["synthetic"],
			single["synthetic"]) ||
			json.Unmarshal(s.Settings, &set) != nil || set.Bins == 0 {
			continue
		}
		return metric.Binning{Bins: set.Bins, Declared: set.Edges == "declared", OwnBins: set.Outside == "own_bins"},
			"As in stage " + s.ID + ". "
	}
	return b, ""
}
