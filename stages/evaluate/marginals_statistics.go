package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/account"
	"weir/stages/metric"
	"weir/train/parallel"
)

// statisticLoss names the figure that judges means, deviations, quantiles and shares of single columns. Distances of
// whole distributions are blind to them: total variation of .006 may triple a mean.
const statisticLoss = "statistic_loss"

// statisticFigures declares the statistics of columns in both tables, and what is lost of them. A category added by a
// preparation, such as other, is one of the categories.
func statisticFigures() pipeline.Figures {
	list := pipeline.Figures{{Name: statisticLoss, Parts: "statistic", Better: pipeline.BetterLow, Headline: true,
		Worst: true,
		Doc: "means, deviations, quantiles and shares of single columns: greatest loss of one beyond what fresh real rows " +
			"lose, 0 is best",
		Beside: []pipeline.Role{pipeline.RealTrain},
		Verdict: &pipeline.Verdict{Label: "Single columns: greatest loss of a mean, quantile or share", Good: 0.1,
			Fair: 0.25}}}
	words := map[string]string{metric.StatisticMean: "mean", metric.StatisticSD: "standard deviation",
		metric.StatisticMedian: "median",
		metric.StatisticQ95:    "95 % quantile", metric.StatisticQ99: "99 % quantile",
		metric.StatisticMissing: "share of missing values"}
	for _, name := range append(metric.NumberStatistics(), metric.StatisticMissing) {
		list = append(list,
			pipeline.Figure{Name: name + "_real", Parts: "column", Better: pipeline.BetterPlain,
				Doc: words[name] + " in the real rows"},
			pipeline.Figure{Name: name + "_synthetic", Parts: "column", Better: pipeline.BetterPlain, Real: name + "_real",
				Doc: words[name] + " in the synthetic rows"})
	}
	return list
}

// statistics records the statistics of single columns in both tables and what is lost of each.
func (r *marginalRun) statistics(ctx context.Context) error {
	if !slices.Contains(r.Ways, 1) {
		return nil
	}
	list, err := r.judged(ctx, "synthetic")
	if err != nil {
		return err
	}
	r.Add(statisticLoss, "", r.greatest(list, r.empty()))
	for _, s := range list {
		r.Add(statisticLoss, s.Of+":"+s.Name, metric.Or(s.told, "a table has no such value"))
		if s.Name == metric.StatisticPrevalence {
			continue // probability_real and probability_synthetic have these
		}
		r.Add(s.Name+"_real", s.Of, metric.Or(s.Real, "the real column has too few values"))
		r.Add(s.Name+"_synthetic", s.Of, metric.Or(s.Other, "the synthetic column has too few values"))
	}
	if f := r.frames["real_train"]; f != nil {
		if list, err = r.judged(ctx, "real_train"); err != nil {
			return err
		}
		r.Add(pipeline.RealTrain.Name(statisticLoss), "", r.greatest(list, Empty(r.table.Real, 1),
			r.noRows("real_train")).With("real_train against real"))
	}
	return nil
}

// judgedStatistic is a statistic and what is lost of it beyond chance.
type judgedStatistic struct {
	metric.Statistic
	told float64
}

// judged compares the statistics of the real rows with the statistics of another table.
func (r *marginalRun) judged(ctx context.Context, port string) ([]judgedStatistic, error) {
	real, other := r.frames["real"], r.frames[port]
	most := other.Rows
	if train := r.frames["real_train"]; train != nil && train.Rows > 0 {
		most = train.Rows
	}
	b, family := metric.NewBlocks(real.Rows, other.Rows, most, r.env.Rand("fresh rows against "+port)),
		&metric.LossFamily{}
	byColumn := make([][]metric.Statistic, len(real.Columns))
	parallel.Do(r.env.Workers, len(real.Columns), func(_, i int) {
		if ctx.Err() == nil {
			byColumn[i] = family.Column(b, &real.Columns[i], &other.Columns[i])
		}
	})
	all := append(slices.Concat(byColumn...), family.Rare(b, real, other))
	list := make([]judgedStatistic, len(all))
	for i, told := range family.BeyondChance(all) {
		list[i] = judgedStatistic{all[i], told}
	}
	return list, ctx.Err()
}

// mostNamed is how many of the statistics that lost most a note names.
const mostNamed = 3

// greatest returns the greatest loss that is told, with the statistics that lost most.
func (r *marginalRun) greatest(list []judgedStatistic, why ...string) metric.Noted {
	certain := slices.DeleteFunc(slices.Clone(list), func(s judgedStatistic) bool { return !(s.told > 0) })
	slices.SortStableFunc(certain, func(a, b judgedStatistic) int { return cmp.Compare(b.told, a.told) })
	defined := slices.ContainsFunc(list, func(s judgedStatistic) bool { return !math.IsNaN(s.told) })
	switch {
	case !defined:
		return metric.None(why...)
	case len(certain) == 0:
		return metric.Of(0, fmt.Sprintf("none of %d statistics is further than fresh real rows would be", len(list)))
	}
	note := fmt.Sprintf("%d of %d statistics are further than fresh real rows would be", len(certain), len(list))
	for _, s := range certain[:min(mostNamed, len(certain))] {
		real, other := r.words(s)
		note = metric.Notes(note, fmt.Sprintf("%s %s %s real, %s synthetic", s.Of, s.Name, real, other))
	}
	return metric.Of(certain[0].told, note)
}

// words writes a statistic of both tables: a date or time as such, a deviation of these in days, hours or minutes, and
// numbers with the digits, four at least, by which they differ.
func (r *marginalRun) words(s judgedStatistic) (real, other string) {
	c := r.frames["real"].Column(s.Of)
	if c != nil && c.Type.Calendar() && slices.Contains(metric.NumberStatistics(), s.Name) &&
		s.Name != metric.StatisticSD {
		of := domain.Column{Type: c.Type}
		return of.Show(s.Real), of.Show(s.Other)
	}
	if c != nil && c.Type.Calendar() && s.Name == metric.StatisticSD {
		unit, per := spreadUnit(c.Type, max(s.Real, s.Other))
		real, other = formatPair(s.Real/per, s.Other/per)
		return real + " " + unit, other + " " + unit
	}
	return formatPair(s.Real, s.Other)
}

// spreadUnit returns the unit in which a deviation of dates or times is written, and how much of the column's it is.
func spreadUnit(t domain.ColumnType, greatest float64) (unit string, per float64) {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	switch {
	case t == domain.Date:
		return "days", 1
	case t == domain.Time:
		return "minutes", minute
	case greatest < day:
		return "hours", hour
	}
	return "days", day
}

// formatPair writes two numbers with the digits, four at least, by which they differ.
func formatPair(a, b float64) (x, y string) {
	const least, most = 4, 9
	for digits := least; digits <= most; digits++ {
		x, y = strconv.FormatFloat(a, 'g', digits, 64), strconv.FormatFloat(b, 'g', digits, 64)
		if x != y {
			break
		}
	}
	return x, y
}

// besideTables are the tables that the synthetic one is seen beside, each against real; nil
// where there is none.
type besideTables struct {
	train       *metric.CodedTables // the rows that the model learnt from
	independent *metric.CodedTables // columns drawn independently from real rows, without noise
	baseline    *metric.CodedTables // independent columns at the same epsilon
	source      string              // what the independent columns are drawn from
	noise       string              // what the baseline is
}

// tablesBeside codes and draws them.
func (r *marginalRun) tablesBeside(b metric.Binning) {
	real := r.frames["real"]
	source := r.table.Swapped()
	r.source = "the real rows themselves"
	if train := r.frames["real_train"]; train != nil {
		r.source, r.train = "real_train", b.CodeAll(real, train, r.env.Workers)
		source = r.train
	}
	if source.Synth > 0 {
		r.independent = source.Independent(r.table, r.env.Rand("independent baseline"))
	}
	sd := r.budgetNoise(len(source.Columns), r.unitRows)
	switch f := r.frames["baseline"]; {
	case f != nil:
		r.baseline, r.noise = b.CodeAll(real, f, r.env.Workers), "the table that is connected"
	case sd > 0 && source.Synth > 0:
		r.baseline = source.Noisy(r.table, sd, r.env.Rand("noisy baseline"))
		r.noise = fmt.Sprintf("columns drawn independently from counts of %s with Gaussian noise of %.3g rows, which is "+
			"what epsilon %g at delta %g leaves; "+
			"simulated, so that nothing is spent", r.source, sd, float64(r.env.Plan.Budget), r.env.Plan.Delta)
	}
}

// budgetNoise returns the standard deviation of the noise that the counts of every column have where the whole budget
// of the spec pays for them in one Gaussian release; 0 where there is no budget. A unit's rows, most at most, may all
// have the same values: they move a cell of each column, or two if they are replaced, by as many as they are. This
// noise protects nobody: the figures that it enters are private, whatever it is.
func (r *marginalRun) budgetNoise(columns, most int) float64 {
	p := r.env.Plan
	if p == nil || math.IsInf(float64(p.Budget), 1) || !(p.Budget > 0) || !(p.Delta > 0) {
		return 0
	}
	cells := float64(columns)
	if p.Adjacency == privacy.ReplaceOne {
		cells *= 2
	}
	return account.GaussianNoise(float64(p.Budget), p.Delta) * float64(most) * math.Sqrt(cells)
}

// rowsOfUnit returns the most rows of a table that change with one privacy unit, where that is bounded, and else the
// most rows that a unit has in the source.
func rowsOfUnit(h pipeline.Header) int {
	if h.Class == pipeline.Private && h.Stability.Spread == pipeline.SpreadRows {
		return max(h.Stability.N, 1)
	}
	return h.Terms.Unit.Stability().N
}

// tablesRead returns how many tables are compared over every workload.
func (r *marginalRun) tablesRead() int {
	n := 1
	for _, t := range []*metric.CodedTables{r.train, r.independent, r.baseline} {
		if t != nil {
			n++
		}
	}
	return n
}

// references records the mean total variation of the tables beside the synthetic one.
func (r *marginalRun) references(ctx context.Context, k int, suffix string) error {
	for _, t := range []struct {
		role  pipeline.Role
		note  string
		table *metric.CodedTables
	}{
		{pipeline.RealTrain, "real_train against real", r.train},
		{pipeline.Independent, "as many rows as the synthetic table has, columns drawn independently from " +
			r.source + ", without noise", r.independent},
		{pipeline.Baseline, r.noise, r.baseline},
	} {
		if t.table == nil {
			continue
		}
		list, err := r.compare(ctx, t.table, r.queries[k].list)
		if err != nil {
			return err
		}
		f := metric.Or(metric.SummariseWorkload(list).MeanL1/2, Empty(t.table.Real, 1), r.noRows(string(t.role)),
			r.noMarginal(k))
		r.Add(t.role.Name("total_variation"+suffix), "", f.With(t.note))
	}
	return nil
}

func (r *marginalRun) noRows(port string) string {
	if f := r.frames[port]; f != nil && f.Rows == 0 {
		return port + " has no rows"
	}
	return ""
}

// dependsOnBudget returns the work of a comparison that simulates what the budget gives.
func dependsOnBudget(w pipeline.Work) pipeline.Work {
	w.OfBudget = true
	return w
}

// smallestSample is the least sub-sample that is tried.
const smallestSample = 16

// subsample finds the share of real rows, drawn at random, whose 2-way marginals
// are as far from the real ones as the synthetic ones are, as NIST's reports do
// (SDNist, equivalent sub-sample): sizes double until one is as near, and the
// size is interpolated between the last two on a log scale.
func (r *marginalRun) subsample(ctx context.Context) error {
	if !slices.Contains(r.Ways, 2) {
		return nil
	}
	source := r.table.Swapped()
	if r.train != nil {
		source = r.train
	}
	queries := r.queries[2].list
	if r.empty() != "" || source.Synth < smallestSample || len(queries) == 0 {
		r.Add("equivalent_subsample", "", metric.None(r.empty(), fmt.Sprintf("needs %d real rows to draw from, rows to "+
			"judge and two columns", smallestSample)))
		return nil
	}
	single, err := r.compare(ctx, r.table, queries)
	if err != nil {
		return err
	}
	f, err := r.equivalent(ctx, source, metric.SummariseWorkload(single).MeanL1)
	if err != nil {
		return err
	}
	f.Note = metric.Notes("share of "+r.source+" whose 2-way total variation is the same", f.Note)
	r.Add("equivalent_subsample", "", f)
	return nil
}

func (r *marginalRun) equivalent(ctx context.Context, source *metric.CodedTables, wanted float64) (metric.Noted,
	error) {
	order := r.env.Rand("sub-sample").Perm(source.Synth)
	lastSize, last := 0, math.NaN()
	for size := smallestSample; ; size = min(2*size, source.Synth) {
		list, err := r.compare(ctx, source.Sample(order[:size]), r.queries[2].list)
		if err != nil {
			return metric.Noted{}, err
		}
		point := metric.SummariseWorkload(list).MeanL1
		switch {
		case point <= wanted && lastSize == 0:
			return metric.Of(float64(size)/float64(source.Synth), fmt.Sprintf("or less: %d rows are nearer already", size)), nil
		case point <= wanted:
			t := (last - wanted) / (last - point)
			rows := bitmath.Exp(bitmath.Log(float64(lastSize)) + float64(t*bitmath.Log(float64(size)/float64(lastSize))))
			return metric.Of(rows / float64(source.Synth)), nil
		case size == source.Synth:
			return metric.Of(1, "the synthetic rows are nearer than all of them"), nil
		}
		lastSize, last = size, point
	}
}
