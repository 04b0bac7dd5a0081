package graphical

import (
	"context"
	"math"

	"weir/privacy/mechanism"
	"weir/train/graphical"
)

// scoreMoves returns the L2 sensitivity of the doubled scores of the given number of pairs. A doubled
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
func (f *front) measure(ctx context.Context, p *balance, list []bargain) error {
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
func (f *front) keep(p *balance, set graphical.Set, counts []int64, cost float64) error {
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
func (f *front) again(ctx context.Context, p *balance) error {
	budget := p.left()
	if budget <= forfeited*p.total() {
		return nil
	}
	var list []bargain
	for j, part := range shares(f.sizes(), f.columnsPerCore(), f.sharedCells(budget)) {
		list = append(list, bargain{graphical.Set{j}, budget * part})
	}
	return f.measure(ctx, p, list)
}

// distances returns the scores of pairs: half the L1 distance of each pair's histogram
// and the independent model's table, which is rounded to integers so that twice the
// score is one, all with noise in one release of the given cost. tau is the standard
// deviation of a score's noise.
func (f *front) distances(ctx context.Context, p *balance, pairs []graphical.Set, ones [][]float64,
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

// distance returns the L1 distance of a histogram of two columns and their independent
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

// balanced returns the tables with the model's total: each is shifted by what its sum is
// short of it, where its noise is largest most. Tables of one column are not among them
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

// columnCounts returns the counts by code of each column in the model of what is measured so far.
func (f *front) columnCounts(ctx context.Context, limits graphical.Limits, workers int) ([][]float64, error) {
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
