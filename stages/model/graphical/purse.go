package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/train/graphical"
)

// spendName is the one mechanism of a stage.
const spendName = "marginals"

// purse spends the total of one filter on histograms and scores, and on choices where
// it is a ZCDPFilter.
//
// Input of a release: counts of rows in disjoint cells, or doubled scores of many
// sets. Sensitivity: that of mechanism.HistogramMoves, or scoreMoves. Adjacency: of
// the plan. Guarantee: that of the filter, as long as what is asked and the costs
// follow from earlier releases and public facts (docs/marginals.md section 2).
type purse struct {
	release func(values []int64, d mechanism.Moves, sigma float64) ([]int64, error)
	pick    func(scores []float64, d mechanism.Moves, epsilon float64) (int, error)
	filter  mechanism.GaussianFilter // by which noise is reckoned, alike for both
	silent  bool                     // epsilon: inf, nothing is added
	spent   float64
	left    func() float64
}

// nominal stands for the noise of a run without any: an estimate weighs its
// measurements by their variances, which must not be 0.
const nominal = 0x1p-8

func openPurse(env *pipeline.Env) (*purse, error) {
	paid, err := env.Privacy.Open(spendName)
	if err != nil {
		return nil, err
	}
	m, err := filterOf(paid.Mechanism())
	if err != nil {
		return nil, err
	}
	p := &purse{filter: m, silent: m.NoiseMultiplier == 0, left: paid.Left}
	p.release = func(values []int64, d mechanism.Moves, sigma float64) ([]int64, error) {
		return mechanism.ReleaseIntegers(paid, values, d, sigma)
	}
	p.pick = func(scores []float64, d mechanism.Moves, epsilon float64) (int, error) {
		return mechanism.Choose(paid, scores, d, epsilon)
	}
	if p.silent {
		p.filter.NoiseMultiplier = nominal
		p.left = func() float64 { return max(0, p.total()-p.spent) }
	}
	return p, nil
}

func filterOf(m privacy.Mechanism) (mechanism.GaussianFilter, error) {
	switch m := m.(type) {
	case mechanism.GaussianFilter:
		return m, nil
	case mechanism.ZCDPFilter:
		return mechanism.GaussianFilter{NoiseMultiplier: m.NoiseMultiplier, Adjacency: m.Adjacency}, nil
	}
	return mechanism.GaussianFilter{}, fmt.Errorf("%s: is planned as %T, must be a filter", spendName, m)
}

// total is mu squared, for one changed row.
func (p *purse) total() float64 { return p.filter.Total() }

// scale is the noise multiplier of the plan; 0: nothing is added.
func (p *purse) scale() float64 {
	if p.silent {
		return 0
	}
	return p.filter.NoiseMultiplier
}

// move is the L2 sensitivity of a histogram under the adjacency of the plan.
func (p *purse) move() float64 { return mechanism.HistogramMoves().Under(p.filter.Adjacency) }

// The bounds of integer noise; what a least sigma leaves of its cost is forfeited.
const leastSigma = 0x1p-10

// sigma is the noise of a histogram for a part of the total.
func (p *purse) sigma(cost float64) float64 {
	return max(p.filter.Noise(mechanism.HistogramMoves(), cost), leastSigma)
}

// histogram releases the counts of rows in disjoint cells for a part of the total.
func (p *purse) histogram(counts []int64, cost float64) (noisy, error) {
	return p.integers(counts, mechanism.HistogramMoves(), cost)
}

// scores releases the doubled scores of pairs, all in one.
func (p *purse) scores(twice []int64, cost float64) (noisy, error) {
	return p.integers(twice, scoreMoves(len(twice)), cost)
}

// choose returns the place of one of the scores, by an exponential mechanism for a
// part of the total. One unit moves each score by at most d.
func (p *purse) choose(scores []float64, d mechanism.Moves, cost float64) (int, error) {
	p.spent += cost
	return p.pick(scores, d, min(2*math.Sqrt(cost), mostEpsilon))
}

// mostEpsilon is the greatest that a choice is drawn with, beyond which none is left to
// chance.
const mostEpsilon = 0x1p10

// noisy is what a release gave: numbers, and the variance of the noise of each.
type noisy struct {
	Y        []float64
	Variance float64
}

func (n noisy) sd() float64 { return math.Sqrt(n.Variance) }

func (p *purse) integers(values []int64, d mechanism.Moves, cost float64) (noisy, error) {
	sigma := max(p.filter.Noise(d, cost), leastSigma)
	p.spent += cost
	paid := sigma
	if p.silent {
		paid = 0
	}
	out, err := p.release(values, d, paid)
	if err != nil {
		return noisy{}, err
	}
	y := make([]float64, len(out))
	for i, v := range out {
		y[i] = float64(v)
	}
	return noisy{y, variance(sigma)}, nil
}

// variance is that of a rounded normal number: rounding adds 1/12, to 1e-8 of it for
// a sigma of 1 and more, and hides the noise where sigma is far below.
func variance(sigma float64) float64 { return float64(sigma*sigma) + 1./12 }

// scoreMoves is the L2 sensitivity of the doubled scores of so many pairs. A doubled
// score is the L1 distance of a histogram and a table of integers that earlier
// releases made: a row more or less moves it by at most 1, a row replaced by at most
// 2, each in every pair.
func scoreMoves(pairs int) mechanism.Moves {
	root := math.Sqrt(float64(pairs))
	return mechanism.Moves{AddRemove: root, ReplaceOne: 2 * root}
}

// each counts sets of columns by code and hands each histogram on.
func (f *front) each(ctx context.Context, sets []graphical.Set, use func(i int, counts []int64) error) error {
	list := make([][]int, len(sets))
	for i, set := range sets {
		list[i] = set
	}
	return f.counts.Count(ctx, list, use)
}

func cellsIn(sizes []int, set graphical.Set) int {
	cells := 1
	for _, c := range set {
		cells *= sizes[c]
	}
	return cells
}

// measure releases the histogram of each set for its cost and keeps it for the fit.
func (f *front) measure(ctx context.Context, p *purse, list []bargain) error {
	sets := make([]graphical.Set, len(list))
	for i, b := range list {
		sets[i] = b.set
	}
	return f.each(ctx, sets, func(i int, counts []int64) error {
		cost := list[i].cost
		if i == len(list)-1 {
			cost = p.left() // to the last bit of the total
		}
		return f.keep(p, sets[i], counts, cost)
	})
}

// keep releases the histogram of a set for its cost and keeps it for the fit.
func (f *front) keep(p *purse, set graphical.Set, counts []int64, cost float64) error {
	y, err := p.histogram(counts, cost)
	if err != nil {
		return err
	}
	f.tables = append(f.tables, graphical.Table{Vars: set, Y: y.Y, Var: repeated(y.Variance, len(y.Y))})
	f.measured = append(f.measured, measured{Columns: set, Y: y.Y, Sigma: y.sd()})
	return nil
}

// forfeited is the part of the total that is not worth a release: what sums leave.
const forfeited = 1e-9

// again spends what is left on each column once more, where no pair is worth it.
func (f *front) again(ctx context.Context, p *purse) error {
	budget := p.left()
	if budget <= forfeited*p.total() {
		return nil
	}
	var list []bargain
	for j, part := range shares(f.sizes(), f.stands(), f.sharedCells(budget)) {
		list = append(list, bargain{graphical.Set{j}, budget * part})
	}
	return f.measure(ctx, p, list)
}

// distances are the scores of pairs: half the L1 distance of each pair's histogram
// and the independent model's table, which is rounded to integers so that twice the
// score is one, all with noise in one release of the given cost. tau is the standard
// deviation of a score's noise.
func (f *front) distances(ctx context.Context, p *purse, pairs []graphical.Set, ones [][]float64,
	cost float64) (scores []float64, tau float64, err error) {
	twice := make([]int64, len(pairs))
	err = f.each(ctx, pairs, func(i int, counts []int64) error {
		twice[i] = distance(counts, ones[pairs[i][0]], ones[pairs[i][1]])
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	y, err := p.scores(twice, cost)
	if err != nil {
		return nil, 0, err
	}
	for i := range y.Y {
		y.Y[i] /= 2
	}
	return y.Y, y.sd() / 2, nil
}

// distance is the L1 distance of a histogram of two columns and their independent
// table, rounded to integers.
func distance(counts []int64, a, b []float64) (sum int64) {
	n := total(a)
	for i, x := range a {
		for j, y := range b {
			d := counts[i*len(b)+j]
			if n > 0 {
				d -= int64(math.Round(x * y / n))
			}
			sum += max(d, -d)
		}
	}
	return sum
}

// balanced are the tables with the model's total: each is shifted by what its sum is
// short of it, where its noise is largest most. Those of one column are not among them
// where columns are estimated before the fit.
func (f *front) balanced() (out []graphical.Table) {
	for _, t := range f.tables {
		if f.settled && len(t.Vars) == 1 {
			continue
		}
		out = append(out, graphical.Table{Vars: t.Vars, Y: summingTo(t.Y, t.Var, f.rows), Var: t.Var})
	}
	return out
}

// summingTo shares what numbers lack of a sum out by their variances.
func summingTo(y, variances []float64, sum float64) []float64 {
	short, whole := sum-total(y), total(variances)
	out := make([]float64, len(y))
	for k := range y {
		if out[k] = y[k]; whole > 0 {
			out[k] += short * variances[k] / whole
		}
	}
	return out
}

// fit estimates a model that holds every table.
func (f *front) fit(ctx context.Context, limits graphical.Limits, workers int) (*graphical.Model, error) {
	sets := tiedSets(f.rules)
	for _, m := range f.masks { // of a model that was read back, which need not be of its rules
		sets = append(sets, m.Vars)
	}
	for _, t := range f.tables {
		sets = append(sets, t.Vars)
	}
	tree, err := graphical.NewTree(f.sizes(), sets, limits)
	if err != nil {
		return nil, err
	}
	m, err := f.estimate(ctx, tree, f.balanced(), graphical.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	return f.scaled(m, limits)
}

// apart are the counts by code of each column in the model of what is measured so far.
func (f *front) apart(ctx context.Context, limits graphical.Limits, workers int) ([][]float64, error) {
	m, err := f.fit(ctx, limits, workers)
	if err != nil {
		return nil, err
	}
	list := make([][]float64, len(m.Domain()))
	for j := range list {
		if list[j], err = m.Marginal(graphical.Set{j}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func repeated(x float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = x
	}
	return list
}

// half is half the width of every cell's interval, which holds the count of the table in
// at least 95 of 100 releases: noise is a normal number rounded to whole ones, whose 95 %
// within h have h = 1.96 sd - .5, rounded up; of discrete Laplace noise it is that of its
// tails. It looks at all cells.
func (x measured) half() float64 {
	switch {
	case x.Noise == laplace && x.whole():
		return wholeLaplace95(x.Sigma)
	case x.Noise == laplace:
		return laplace95(x.Sigma)
	case x.whole():
		return max(math.Ceil(float64(normal95*math.Sqrt(max(float64(x.Sigma*x.Sigma)-1./12, 0)))-.5), 0)
	}
	return normal95 * x.Sigma
}

const (
	normal95 = 1.959963984540054 // the .975 quantile
	laplace  = "laplace"
)

// whole reports whether counts are whole numbers, as those with integer noise are.
func (x measured) whole() bool {
	return !slices.ContainsFunc(x.Y, func(y float64) bool { return y != math.Trunc(y) })
}

// laplace95 bounds Laplace noise of a standard deviation, with probability .95.
func laplace95(sd float64) float64 { return bitmath.Log(20) * sd / math.Sqrt2 }

// wholeLaplace95 is that of discrete Laplace noise, whose part beyond h is 2 a^(h+1)/(1+a)
// for a = exp(-1/b), or of rounded Laplace noise, whichever is wider.
func wholeLaplace95(sd float64) float64 {
	y := 1 / (math.Sqrt2 * sd)
	root := y + math.Sqrt(float64(y*y)+1)
	a := 1 / (root * root) // whose variance is sd²
	return max(math.Ceil(bitmath.Log(.025*(1+a))/bitmath.Log(a)-1), math.Ceil(laplace95(sd)-.5), 0)
}
