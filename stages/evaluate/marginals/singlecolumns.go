package marginals

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/distance"
	"weir/stages/internal/metric/marginal"
	"weir/stages/internal/question"
	"weir/train/parallel"
)

// perColumn compares single columns.
func (r *marginalRun) perColumn(ctx context.Context) error {
	if !slices.Contains(r.Ways, 1) {
		return nil
	}
	list, err := r.compare(ctx, r.table, r.queries[1].list)
	if err != nil {
		return err
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = r.table.Columns[i].Name
	}
	for k, name := range divergenceNames {
		figures := make([]metric.Noted, len(list))
		for i, c := range list {
			figures[i] = metric.Of(divergenceValues(c.Discrete)[k], r.empty())
		}
		note := ""
		if k == 0 {
			note = r.notes
		}
		r.AddAll(name, names, figures, note)
	}
	if err := r.references(ctx, 1, ""); err != nil {
		return err
	}
	r.chiSquare(names)
	if err := r.numbers(ctx); err != nil {
		return err
	}
	r.outside()
	r.probabilities()
	return nil
}

// chiSquare tests each column's codes in the two tables.
func (r *marginalRun) chiSquare(names []string) {
	for i := range r.table.Columns {
		real, synth := r.table.Columns[i].Counts()
		c, err := distance.TwoSample(real, synth)
		if err != nil {
			r.Add("chi_square", names[i], metric.None(err.Error()))
			continue
		}
		r.Add("chi_square", names[i], metric.Of(c.Statistic, fmt.Sprintf("%d degrees of freedom", c.DoF)))
		r.Add("chi_square_p", names[i], metric.Of(c.P))
	}
}

// exactTotal is what exact p-values may take over all columns: some seconds.
const exactTotal = 40 * distance.ExactSteps

var numberNames = [...]string{"ks", "ks_p", "wasserstein", "wasserstein_over_range", "wasserstein_over_sd", "energy"}

// numbers compares the distribution functions of numeric columns, missing values
// aside. Only what has no unit is averaged over columns.
func (r *marginalRun) numbers(ctx context.Context) error {
	real, synth := r.frames["real"], r.frames["synthetic"]
	var places []int
	var names []string
	for i := range real.Columns {
		if !real.Columns[i].Coded() {
			places, names = append(places, i), append(names, real.Columns[i].Name)
		}
	}
	found := make([][len(numberNames)]metric.Noted, len(places))
	most := min(distance.ExactSteps, exactTotal/max(1, len(places)))
	parallel.Do(r.env.Workers, len(places), func(_, k int) {
		if ctx.Err() == nil {
			found[k] = compareNumbers(&real.Columns[places[k]], &synth.Columns[places[k]], most)
		}
	})
	for j, name := range numberNames {
		figures := make([]metric.Noted, len(places))
		for k := range places {
			figures[k] = found[k][j]
		}
		if pooled := name == "ks" || strings.HasPrefix(name, "wasserstein_over"); pooled {
			r.AddAll(name, names, figures, "")
			continue
		}
		for k, f := range figures {
			r.Add(name, names[k], f)
		}
	}
	return ctx.Err()
}

func compareNumbers(real, synth *columns.Column, exactSteps int) (out [len(numberNames)]metric.Noted) {
	x, y := distance.Sorted(real.Numbers), distance.Sorted(synth.Numbers)
	if reason := absent(len(x), len(y)); reason != "" {
		for i := range out {
			out[i] = metric.None(reason)
		}
		return out
	}
	d := distance.NewNumeric(x, y)
	p, exact := distance.KSP(d.KS, len(x), len(y), exactSteps)
	note := "the limit for many rows"
	if exact {
		note = "exact, conservative where values are tied"
	}
	return [...]metric.Noted{metric.Of(d.KS), metric.Of(p, note), metric.Of(d.Wasserstein), metric.Over(d.Wasserstein, x[len(x)-1]-x[0]),
		metric.Over(d.Wasserstein, distance.SD(x)), metric.Of(d.Energy)}
}

// absent says which table has no value in a column; "" where both have some.
func absent(real, synth int) string {
	switch {
	case real == 0:
		return "the real column has no values"
	case synth == 0:
		return "the synthetic column has no values"
	}
	return ""
}

// outside records the share of synthetic values beyond the edges of the bins.
func (r *marginalRun) outside() {
	for i := range r.table.Columns {
		c := &r.table.Columns[i]
		present := 0
		for _, v := range c.Synth {
			if int(v) != c.Size-1 {
				present++
			}
		}
		if c.Labels == nil {
			r.Add("outside_edges", c.Name, metric.Or(float64(c.Outside)/float64(present), "the synthetic column has no values"))
		}
	}
}

// probabilities is dimension-wise probability (Choi et al. 2017): the share of
// rows of each indicator, real against synthetic. A column of two categories has
// one indicator, of the second.
func (r *marginalRun) probabilities() {
	d := r.indicators(r.table, func(name string, real, synthetic float64) {
		r.Add("probability_real", name, metric.Of(real))
		r.Add("probability_synthetic", name, metric.Of(synthetic))
	})
	none := metric.Notes(r.empty(), "needs a column with categories")
	r.Add("probability_mean_absolute_error", "", metric.Or(d.MeanAbsolute, none))
	if r.baseline != nil {
		b := r.indicators(r.baseline, func(string, float64, float64) {})
		r.Add(pipeline.Baseline.Name("probability_mean_absolute_error"), "", metric.Or(b.MeanAbsolute,
			none).With(r.noise))
	}
	r.Add("probability_rmse", "", metric.Or(d.RMSE, none))
	r.Add("probability_sum_of_squares", "", metric.Or(d.SumOfSquares, none))
	r.Add("probability_max_absolute_error", "", metric.Or(d.MaxAbsolute, none))
	r.Add("probability_distance_from_diagonal", "", metric.Or(d.FromDiagonal, none))
	r.Add("probability_absent_real", "", metric.Or(d.Absent, none))
	r.Add("probability_absent_synthetic", "", metric.Or(d.AbsentOther, none))
	r.Add("probability_pearson", "", metric.Or(d.Pearson, r.empty(), "needs two indicators that differ"))
}

// indicators compares the shares of a table's indicators and shows each.
func (r *marginalRun) indicators(t *marginal.Table, show func(name string, real, synthetic float64)) marginal.Probabilities {
	var p, q []float64
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Labels == nil || question.Empty(t.Real, t.Synth) != "" {
			continue
		}
		real, synth := c.Counts()
		for k := marginal.FirstIndicator(c.Cells); k < c.Cells; k++ {
			a, b := float64(real[k])/float64(t.Real), float64(synth[k])/float64(t.Synth)
			p, q = append(p, a), append(q, b)
			show(c.Name+"="+c.Labels[k], a, b)
		}
	}
	return marginal.CompareProbabilities(p, q)
}
