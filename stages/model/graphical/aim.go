package graphical

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/stages/internal/columns"
	"weir/train/graphical"
	"weir/train/marginal"
	"weir/train/parallel"
)

// AIM measures every column, then in rounds the marginal that the model of those before
// gets most wrong beyond its noise, and fits a graphical model to all of them.
//
// Input: a private table of plain columns, stability rows(c). Mechanism: integer
// Gaussian noise on histograms; each round chooses its set by an exponential mechanism
// over weighted L1 distances from the model (select: exponential), or by distances with
// Gaussian noise (gaussian). Sensitivity: a histogram moves by 1 (add_remove) or
// sqrt(2) (replace_one) in L2, a distance by 1 or 2, over the largest weight no more.
// Adjacency: either. Guarantee: candidates, noise and epsilon of a round follow from
// earlier rounds, so no list of them is charged but a total: rho-zCDP
// (mechanism.ZCDPFilter), or one Gaussian mechanism where choices are Gaussian too
// (mechanism.GaussianFilter). Reference: McKenna, Mullins, Sheldon, Miklau 2022.
type AIM struct {
	Aim             `yaml:",inline"`
	Columns         `yaml:",inline"`
	Size            `yaml:",inline"`
	Shares          `yaml:",inline"`
	Selection       string  `yaml:"selection" json:"selection" enum:"exponential|gaussian" doc:"How a round chooses: by an exponential mechanism as published, so that the whole stage is charged as zCDP; or by distances with Gaussian noise, so that it is charged as one Gaussian mechanism, which has 6 to 10 % less noise for the same epsilon."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1 and equal rho; calibrated to the budget by default."`
}

const aimName = "aim"

func aimKind() pipeline.Kind {
	return pipeline.Kind{
		Name: aimName, Version: 5, Late: true,
		Doc: "Graphical model of marginals that are chosen round by round (AIM). Measures noisy histograms of all columns " +
			"and then, round after round, of the set of columns that the model " +
			"gets most wrong beyond its noise (AIM: McKenna, Mullins, Sheldon, Miklau 2022). " +
			"Use it to compare with what others publish, or for a workload of few marginals; marginal_tree is as accurate in " +
			"a tenth of the time. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c). Without a workload all " +
			"triples of columns matter, or all pairs of more than 30 columns.",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New: func() pipeline.Stage {
			return &AIM{Aim: Aim{TargetWeight: 2}, Size: Size{MaxModelSize: 8}, Shares: Shares{OneWay: 0.35, Select: 0.1},
				Selection: "exponential"}
		},
	}
}

// Plan prices the whole stage as one total.
func (s *AIM) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	ps := problems(h, s.Columns, s.Aim, s.Size)
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	l := layoutOf(h.Domain)
	workload := l.workload(s.Aim)
	if n := len(inside(workload)); n > mostCandidates {
		ps.Add("workload", fmt.Sprintf("%d marginals of %d columns, with more than %d sets of columns inside them",
			len(workload), len(l.core.Columns), mostCandidates), "fewer or smaller marginals: each round looks at every set "+
			"inside them")
	}
	w := oneEvent(h, s.NoiseMultiplier, "noisy marginals, and in rounds the choice of the next", s.run)
	w.Decide = warned(l, h)
	if s.Selection == "exponential" {
		w.Spends[0].Mechanism = func(scale float64) privacy.Mechanism {
			return mechanism.ZCDPFilter{NoiseMultiplier: scale, Adjacency: h.Terms.Adjacency, Largest: mostMove}
		}
	}
	return w, ps.Err()
}

func (s *AIM) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
	f, p, err := begin(ctx, env, t, 0)
	if err != nil {
		return pipeline.Table{}, err
	}
	if err := f.singles(ctx, p, s.Columns, p.total()*s.OneWay); err != nil {
		return pipeline.Table{}, err
	}
	workload := f.workload(s.Aim)
	c, err := f.course(ctx, p, closure(workload), s.limits(), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	next := c.exponential
	if s.Selection == "gaussian" {
		next = (&ranking{course: c}).next
	}
	if err := c.rounds(ctx, newPace(p.left(), countNamed(workload), s.Select), next); err != nil {
		return pipeline.Table{}, err
	}
	m, err := f.scaled(c.model, s.limits())
	if err != nil {
		return pipeline.Table{}, err
	}
	return f.release(aimName, t.Header, m, s.MaxModelSize)
}

// rounds goes on until all is spent.
func (c *course) rounds(ctx context.Context, pace *pace, next func(ctx context.Context, open []int, sigma,
	squares float64) (int, error)) error {
	for last := false; !last; {
		var choice, measure float64
		left := c.p.left()
		choice, measure, last = pace.next(left)
		sigma := c.p.sigma(measure)
		open := fitting(c.sizes(), c.measured, c.list, part(c.limits, 1-(left-choice-measure)/c.p.total()))
		pos, err := next(ctx, open, sigma, choice)
		if err != nil {
			return err
		}
		if last {
			measure = c.p.left() // to the last bit of the total
		}
		moved, err := c.round(ctx, pos, measure)
		if err != nil {
			return err
		}
		pace.learned(moved, sigma, cellsIn(c.sizes(), c.list[pos].set))
	}
	return nil
}

// exponential chooses by the weighted distances beyond what noise would give.
func (c *course) exponential(ctx context.Context, open []int, sigma, squares float64) (int, error) {
	open, found, err := c.distances(ctx, open)
	if err != nil {
		return 0, err
	}
	most := 0.0
	for _, at := range open {
		most = max(most, c.list[at].weight)
	}
	scores := make([]float64, len(open))
	for i, at := range open {
		scores[i] = c.list[at].weight / most * (float64(found[i]) - c.noise(at, sigma))
	}
	i, err := c.p.choose(scores, distanceMoves(), squares)
	if err != nil {
		return 0, err
	}
	return open[i], nil
}

// noise returns the mean L1 error of a measurement of a candidate.
func (c *course) noise(at int, sigma float64) float64 {
	return float64(absoluteMean * sigma * float64(cellsIn(c.sizes(), c.list[at].set)))
}

// course is AIM under way: sets that are chosen and measured one after the other, each
// where the model of those before is farthest from the table.
type course struct {
	*front
	p       *balance
	list    []candidate
	limits  graphical.Limits
	workers int

	measured []graphical.Set // columns first, then what rules tie together, which need a clique too
	model    *graphical.Model
	held     [][]int64 // private: counts by candidate, where all of them are few
}

// course begins with the columns. Sets that no clique could hold are out.
func (f *front) course(ctx context.Context, p *balance, list []candidate, limits graphical.Limits,
	workers int) (*course,
	error) {
	sizes, whole := f.sizes(), 0.0
	list = slices.DeleteFunc(list, func(c candidate) bool { return roughly(sizes, c.set) > mostCells(limits) })
	for _, one := range list {
		whole += roughly(sizes, one.set)
	}
	c := &course{front: f, p: p, list: list, limits: limits, workers: workers, measured: append(alone(len(f.columns)),
		tiedSets(f.rules)...)}
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

// mostCells returns the most that a marginal may have that is counted and held by a clique.
func mostCells(l graphical.Limits) float64 { return float64(min(l.Clique, marginal.MostCells)) }

// roughly returns the number of cells of a set, which may be more than an integer holds.
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

// distances returns the L1 distances of candidates from the model, whose tables are rounded
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
		return nil, nil, errors.New("max_model_size: is so small that the model cannot tell any marginal of the workload, " +
			"must be larger")
	}
	return open, found, nil
}

// tables returns the model's tables of candidates; nil where it has none.
func (c *course) tables(places []int) [][]float64 {
	tables := make([][]float64, len(places))
	parallel.Do(c.workers, len(places), func(_, i int) {
		if t, err := c.model.Marginal(c.list[places[i]].set); err == nil {
			tables[i] = t
		}
	})
	return tables
}

// l1 returns the L1 distance of counts and a table rounded to integers.
func l1(counts []int64, table []float64) (sum int64) {
	for k, n := range counts {
		d := n - int64(math.Round(table[k]))
		sum += max(d, -d)
	}
	return sum
}

// round measures a candidate, and fits; moved is how far, in L1, that moved the model
// on its set.
func (c *course) round(ctx context.Context, pos int, cost float64) (moved float64, err error) {
	set := c.list[pos].set
	before, err := c.model.Marginal(set)
	if err != nil {
		return 0, err
	}
	if err := c.some(ctx, []int{pos}, func(_ int, counts []int64) error { return c.keep(c.p, set, counts, cost) }); err !=
		nil {
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
		o.Start = sumBySet(c.model.Potentials().Factors)
	}
	c.model, err = c.estimate(ctx, tree, onePerSet(c.balanced()), o)
	return err
}

// sumBySet adds up the factors of one set.
func sumBySet(factors []graphical.Factor) (sums []graphical.Factor) {
	for _, f := range factors {
		index := slices.IndexFunc(sums, func(s graphical.Factor) bool { return slices.Equal(s.Vars, f.Vars) })
		if index < 0 {
			sums = append(sums, f)
			continue
		}
		for i, x := range f.Log {
			sums[index].Log[i] += x
		}
	}
	return sums
}

// onePerSet returns the mean of the tables of each set, by their precisions: a fit to it is
// a fit to all of them.
func onePerSet(tables []graphical.Table) (means []graphical.Table) {
	for _, t := range tables {
		index := slices.IndexFunc(means, func(m graphical.Table) bool { return slices.Equal(m.Vars, t.Vars) })
		if index < 0 {
			means = append(means, graphical.Table{Vars: t.Vars, Y: slices.Clone(t.Y), Var: slices.Clone(t.Var)})
			continue
		}
		m := &means[index]
		for i := range t.Y {
			a, b := 1/m.Var[i], 1/t.Var[i]
			m.Y[i], m.Var[i] = (float64(a*m.Y[i])+float64(b*t.Y[i]))/(a+b), 1/(a+b)
		}
	}
	return means
}

// pace divides the squares that are left of a stage among rounds, as AIM does: each
// measures one set with the larger part and pays the choice of it with the rest.
type pace struct {
	choice float64 // part of a round for the choice
	round  float64 // squares of a round
}

// roundsAColumn is how many rounds there are for each column before noise falls.
const roundsAColumn = 16

func newPace(squares float64, columns int, choice float64) *pace {
	return &pace{choice: choice, round: squares / float64(roundsAColumn*columns)}
}

// next returns what the coming round pays for its choice and its measurement: all that is
// left where that is too little for two.
func (p *pace) next(left float64) (choice, measure float64, last bool) {
	squares := p.round
	if left < 2*squares {
		squares, last = left, true
	}
	return float64(squares * p.choice), float64(squares * (1 - p.choice)), last
}

// learned takes what a round's measurement moved the model by, in L1 on its set of so
// many cells. Where noise alone would do that, later rounds have half of the noise and
// twice the epsilon.
func (p *pace) learned(moved, sigma float64, cells int) {
	if moved <= absoluteMean*sigma*float64(cells) {
		p.round *= 4
	}
}

// part returns the limits that hold when so much of the budget is spent: a model grows with
// what it is measured by.
func part(l graphical.Limits, spent float64) graphical.Limits {
	return graphical.Limits{Clique: l.Clique, Total: int64(math.Ceil(float64(l.Total) * spent))}
}
