package graphical

import (
	"context"
	"errors"
	"math"
	"slices"

	"weir/stages/internal/columns"
	"weir/train/graphical"
	"weir/train/marginal"
	"weir/train/parallel"
)

// course is AIM under way: sets that are chosen and measured one after the other, each
// where the model of those before is farthest from the table.
type course struct {
	*front
	p       *purse
	list    []candidate
	limits  graphical.Limits
	workers int

	measured []graphical.Set // columns first, then what rules tie together, which need a clique too
	model    *graphical.Model
	held     [][]int64 // private: counts by candidate, where all of them are few
}

// course begins with the columns. Sets that no clique could hold are out.
func (f *front) course(ctx context.Context, p *purse, list []candidate, limits graphical.Limits, workers int) (*course, error) {
	sizes, whole := f.sizes(), 0.0
	list = slices.DeleteFunc(list, func(c candidate) bool { return roughly(sizes, c.set) > mostCells(limits) })
	for _, one := range list {
		whole += roughly(sizes, one.set)
	}
	c := &course{front: f, p: p, list: list, limits: limits, workers: workers, measured: append(alone(len(f.columns)), tiedSets(f.rules)...)}
	var err error
	if whole <= columns.MostCounted {
		c.held = make([][]int64, len(list))
		err = f.each(ctx, setsOf(list), func(i int, counts []int64) error {
			c.held[i] = counts
			return nil
		})
	}
	if err == nil {
		err = c.fit(ctx)
	}
	return c, err
}

// mostCells is the most that a marginal may have that is counted and held by a clique.
func mostCells(l graphical.Limits) float64 { return float64(min(l.Clique, marginal.MostCells)) }

// roughly is the number of cells of a set, which may be more than an integer holds.
func roughly(sizes []int, set graphical.Set) float64 {
	cells := 1.
	for _, c := range set {
		cells *= float64(sizes[c])
	}
	return cells
}

func setsOf(list []candidate) []graphical.Set {
	sets := make([]graphical.Set, len(list))
	for i, c := range list {
		sets[i] = c.set
	}
	return sets
}

// some hands the counts of some candidates on.
func (c *course) some(ctx context.Context, places []int, use func(i int, counts []int64) error) error {
	if c.held == nil {
		return c.each(ctx, setsOf(choice(c.list, places)), use)
	}
	for i, at := range places {
		if err := use(i, c.held[at]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func choice[T any](list []T, places []int) []T {
	some := make([]T, len(places))
	for i, at := range places {
		some[i] = list[at]
	}
	return some
}

// distances are the L1 distances of candidates from the model, whose tables are rounded
// to integers: as many integers, of which one row moves each as distanceMoves says. A
// candidate of which the model cannot say anything within the limits is out; whether it
// can follows from what was released.
func (c *course) distances(ctx context.Context, places []int) (open []int, found []int64, err error) {
	for len(places) > 0 {
		n, cells := 0, 0
		for ; n < len(places) && (n == 0 || cells < columns.MostCounted); n++ {
			cells += cellsIn(c.sizes(), c.list[places[n]].set)
		}
		tables := c.tables(places[:n])
		err = c.some(ctx, places[:n], func(i int, counts []int64) error {
			if tables[i] != nil {
				open, found = append(open, places[i]), append(found, l1(counts, tables[i]))
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		places = places[n:]
	}
	if len(open) == 0 {
		return nil, nil, errors.New("max_model_size: is so small that the model cannot tell any marginal of the workload, must be larger")
	}
	return open, found, nil
}

// tables are the model's tables of candidates; nil where it has none.
func (c *course) tables(places []int) [][]float64 {
	tables := make([][]float64, len(places))
	parallel.Do(c.workers, len(places), func(_, i int) {
		if t, err := c.model.Marginal(c.list[places[i]].set); err == nil {
			tables[i] = t
		}
	})
	return tables
}

// l1 is the L1 distance of counts and a table rounded to integers.
func l1(counts []int64, table []float64) (sum int64) {
	for k, n := range counts {
		d := n - int64(math.Round(table[k]))
		sum += max(d, -d)
	}
	return sum
}

// round measures a candidate, and fits; moved is how far, in L1, that moved the model
// on its set.
func (c *course) round(ctx context.Context, at int, cost float64) (moved float64, err error) {
	set := c.list[at].set
	before, err := c.model.Marginal(set)
	if err != nil {
		return 0, err
	}
	if err := c.some(ctx, []int{at}, func(_ int, counts []int64) error { return c.keep(c.p, set, counts, cost) }); err != nil {
		return 0, err
	}
	if !slices.ContainsFunc(c.measured, func(m graphical.Set) bool { return slices.Equal(m, set) }) {
		c.measured = append(c.measured, set)
	}
	if err := c.fit(ctx); err != nil {
		return 0, err
	}
	after, err := c.model.Marginal(set)
	for i := range after {
		moved += math.Abs(after[i] - before[i])
	}
	return moved, err
}

// fit goes on from the model of the round before.
func (c *course) fit(ctx context.Context) error {
	tree, err := graphical.NewTree(c.sizes(), c.measured, c.limits)
	if err != nil {
		return err
	}
	o := graphical.Options{Workers: c.workers}
	if c.model != nil {
		o.Start = together(c.model.Potentials().Factors)
	}
	c.model, err = c.estimate(ctx, tree, onePerSet(c.balanced()), o)
	return err
}

// together adds up the factors of one set.
func together(factors []graphical.Factor) (sums []graphical.Factor) {
	for _, f := range factors {
		at := slices.IndexFunc(sums, func(s graphical.Factor) bool { return slices.Equal(s.Vars, f.Vars) })
		if at < 0 {
			sums = append(sums, f)
			continue
		}
		for i, x := range f.Log {
			sums[at].Log[i] += x
		}
	}
	return sums
}

// onePerSet is the mean of the tables of each set, by their precisions: a fit to it is
// a fit to all of them.
func onePerSet(tables []graphical.Table) (means []graphical.Table) {
	for _, t := range tables {
		at := slices.IndexFunc(means, func(m graphical.Table) bool { return slices.Equal(m.Vars, t.Vars) })
		if at < 0 {
			means = append(means, graphical.Table{Vars: t.Vars, Y: slices.Clone(t.Y), Var: slices.Clone(t.Var)})
			continue
		}
		m := &means[at]
		for i := range t.Y {
			a, b := 1/m.Var[i], 1/t.Var[i]
			m.Y[i], m.Var[i] = (float64(a*m.Y[i])+float64(b*t.Y[i]))/(a+b), 1/(a+b)
		}
	}
	return means
}
