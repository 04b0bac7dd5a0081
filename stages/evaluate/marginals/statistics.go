package marginals

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/fresh"
	"weir/stages/internal/question"
	"weir/train/parallel"
)

// statisticLoss names the figure that judges means, deviations, quantiles and shares of single columns. Distances of
// whole distributions are blind to them: total variation of .006 may triple a mean.
const statisticLoss = "statistic_loss"

// statisticFigures declares the statistics of columns in both tables, and what is lost of them. A category added by a
// preparation, such as other, is one of the categories.
func statisticFigures() pipeline.Figures {
	list := pipeline.Figures{{Name: statisticLoss, Parts: "statistic", Better: pipeline.BetterLow, Headline: true, Worst: true,
		Doc: "means, deviations, quantiles and shares of single columns: greatest loss of one beyond what fresh real rows " +
			"lose, 0 is best",
		Beside:  []pipeline.Role{pipeline.RealTrain},
		Verdict: &pipeline.Verdict{Label: "Single columns: greatest loss of a mean, quantile or share", Good: 0.1, Fair: 0.25}}}
	words := map[string]string{fresh.Mean: "mean", fresh.SD: "standard deviation", fresh.Median: "median",
		fresh.Q95: "95 % quantile", fresh.Q99: "99 % quantile", fresh.Missing: "share of missing values"}
	for _, name := range append(fresh.Numbers(), fresh.Missing) {
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
		if s.Name == fresh.Prevalence {
			continue // probability_real and probability_synthetic have these
		}
		r.Add(s.Name+"_real", s.Of, metric.Or(s.Real, "the real column has too few values"))
		r.Add(s.Name+"_synthetic", s.Of, metric.Or(s.Other, "the synthetic column has too few values"))
	}
	if f := r.frames["real_train"]; f != nil {
		if list, err = r.judged(ctx, "real_train"); err != nil {
			return err
		}
		r.Add(pipeline.RealTrain.Name(statisticLoss), "", r.greatest(list, question.Empty(r.table.Real, 1),
			r.noRows("real_train")).With("real_train against real"))
	}
	return nil
}

// judgedStatistic is a statistic and what is lost of it beyond chance.
type judgedStatistic struct {
	fresh.Statistic
	told float64
}

// judged compares the statistics of the real rows with the statistics of another table.
func (r *marginalRun) judged(ctx context.Context, port string) ([]judgedStatistic, error) {
	real, other := r.frames["real"], r.frames[port]
	most := other.Rows
	if train := r.frames["real_train"]; train != nil && train.Rows > 0 {
		most = train.Rows
	}
	b, family := fresh.NewBlocks(real.Rows, other.Rows, most, r.env.Rand("fresh rows against "+port)), &fresh.Family{}
	byColumn := make([][]fresh.Statistic, len(real.Columns))
	parallel.Do(r.env.Workers, len(real.Columns), func(_, i int) {
		if ctx.Err() == nil {
			byColumn[i] = family.Column(b, &real.Columns[i], &other.Columns[i])
		}
	})
	all := append(slices.Concat(byColumn...), family.Rare(b, real, other))
	list := make([]judgedStatistic, len(all))
	for i, told := range family.Told(all) {
		list[i] = judgedStatistic{all[i], told}
	}
	return list, ctx.Err()
}

// mostNamed is how many of the statistics that lost most a note names.
const mostNamed = 3

// greatest returns the greatest loss that is told, with the statistics that lost most.
func (r *marginalRun) greatest(list []judgedStatistic, why ...string) metric.Noted {
	told := slices.DeleteFunc(slices.Clone(list), func(s judgedStatistic) bool { return !(s.told > 0) })
	slices.SortStableFunc(told, func(a, b judgedStatistic) int { return cmp.Compare(b.told, a.told) })
	defined := slices.ContainsFunc(list, func(s judgedStatistic) bool { return !math.IsNaN(s.told) })
	switch {
	case !defined:
		return metric.None(why...)
	case len(told) == 0:
		return metric.Of(0, fmt.Sprintf("none of %d statistics is further than fresh real rows would be", len(list)))
	}
	note := fmt.Sprintf("%d of %d statistics are further than fresh real rows would be", len(told), len(list))
	for _, s := range told[:min(mostNamed, len(told))] {
		real, other := r.words(s)
		note = metric.Notes(note, fmt.Sprintf("%s %s %s real, %s synthetic", s.Of, s.Name, real, other))
	}
	return metric.Of(told[0].told, note)
}

// words writes a statistic of both tables: a date or time as such, and numbers with the digits, four at least, by which
// they differ.
func (r *marginalRun) words(s judgedStatistic) (real, other string) {
	c := r.frames["real"].Column(s.Of)
	if c != nil && c.Type.Calendar() && slices.Contains(fresh.Numbers(), s.Name) && s.Name != fresh.SD {
		of := domain.Column{Type: c.Type}
		return of.Show(s.Real), of.Show(s.Other)
	}
	const least, most = 4, 9
	for digits := least; digits <= most; digits++ {
		real, other = strconv.FormatFloat(s.Real, 'g', digits, 64), strconv.FormatFloat(s.Other, 'g', digits, 64)
		if real != other {
			break
		}
	}
	return real, other
}
