package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/metric"
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
			figures[i] = metric.Of(divergenceValues(c.DiscreteDistances)[k], r.empty())
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
		c, err := metric.TwoSampleChiSquare(real, synth)
		if err != nil {
			r.Add("chi_square", names[i], metric.None(err.Error()))
			continue
		}
		r.Add("chi_square", names[i], metric.Of(c.Statistic, fmt.Sprintf("%d degrees of freedom", c.DoF)))
		r.Add("chi_square_p", names[i], metric.Of(c.P))
	}
}

// exactTotal is what exact p-values may take over all columns: some seconds.
const exactTotal = 40 * metric.ExactSteps

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
	most := min(metric.ExactSteps, exactTotal/max(1, len(places)))
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
	x, y := metric.Sorted(real.Numbers), metric.Sorted(synth.Numbers)
	if reason := absentNote(len(x), len(y)); reason != "" {
		for i := range out {
			out[i] = metric.None(reason)
		}
		return out
	}
	d := metric.NewNumericDistances(x, y)
	p, exact := metric.KSP(d.KS, len(x), len(y), exactSteps)
	note := "the limit for many rows"
	if exact {
		note = "exact, conservative where values are tied"
	}
	return [...]metric.Noted{metric.Of(d.KS), metric.Of(p, note), metric.Of(d.Wasserstein), metric.Over(d.Wasserstein,
		x[len(x)-1]-x[0]),
		metric.Over(d.Wasserstein, metric.StandardDeviation(x)), metric.Of(d.Energy)}
}

// absentNote says which table has no value in a column; "" where both have some.
func absentNote(real, synth int) string {
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

// probabilities computes dimension-wise probability (Choi et al. 2017): the share of
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
func (r *marginalRun) indicators(t *metric.CodedTables, show func(name string, real,
	synthetic float64)) metric.Probabilities {
	var p, q []float64
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Labels == nil || Empty(t.Real, t.Synth) != "" {
			continue
		}
		real, synth := c.Counts()
		for k := metric.FirstIndicator(c.Cells); k < c.Cells; k++ {
			a, b := float64(real[k])/float64(t.Real), float64(synth[k])/float64(t.Synth)
			p, q = append(p, a), append(q, b)
			show(c.Name+"="+c.Labels[k], a, b)
		}
	}
	return metric.CompareProbabilities(p, q)
}

// divergenceNames are the distances of a discrete distribution, in order.
var divergenceNames = [...]string{"total_variation", "l1", "l2", "jensen_shannon", "jensen_shannon_distance",
	"jensen_shannon_as_printed",
	"kl_real_synthetic", "kl_synthetic_real", "mu_smoothed_kl", "hellinger"}

func divergenceValues(d metric.DiscreteDistances) [len(divergenceNames)]float64 {
	return [...]float64{d.TotalVariation, d.L1, d.L2, d.JSD, d.JensenShannonDistance(), d.JSDAsPrinted,
		d.KLRealSynth, d.KLSynthReal, d.MuSmoothedKL, d.Hellinger}
}

// worstMarginals is the number of 3-way marginals that are listed by name.
const worstMarginals = 10

// kWay compares the marginals of two and three columns.
func (r *marginalRun) kWay(ctx context.Context) error {
	for _, k := range []int{2, 3} {
		if !slices.Contains(r.Ways, k) {
			continue
		}
		list, err := r.compare(ctx, r.table, r.queries[k].list)
		if err != nil {
			return err
		}
		suffix := waySuffix(k)
		r.means(k, suffix, list)
		r.recordPairs(k, suffix, list)
		if err := r.references(ctx, k, suffix); err != nil {
			return err
		}
	}
	return nil
}

// waySuffix ends the names of figures of marginals of k columns.
func waySuffix(k int) string { return fmt.Sprintf("_%dway", k) }

func (r *marginalRun) workloadNote(k int) string {
	if !r.queries[k].drawn {
		return ""
	}
	return fmt.Sprintf("over %d %d-way marginals drawn at random", len(r.queries[k].list), k)
}

func (r *marginalRun) noMarginal(k int) string {
	if e := r.empty(); e != "" {
		return e
	}
	return fmt.Sprintf("the tables have fewer than %d columns in common", k)
}

// means records the mean of each distance and the greatest errors.
func (r *marginalRun) means(k int, suffix string, list []metric.MarginalComparison) {
	note := metric.Notes(r.workloadNote(k), r.notes)
	for i, name := range divergenceNames {
		sum := 0.0
		for _, c := range list {
			sum += divergenceValues(c.DiscreteDistances)[i]
		}
		f := metric.Or(sum/float64(len(list)), r.noMarginal(k))
		if math.IsInf(f.Value, 0) {
			f.Note = ""
		}
		f = f.With(note)
		r.Add(name+suffix, "", f)
	}
	s := metric.SummariseWorkload(list)
	r.Add("max_total_variation"+suffix, "", metric.Or(s.MaxL1/2, r.noMarginal(k)))
	r.Add("max_cell_error"+suffix, "", metric.Or(s.MaxCell, r.noMarginal(k)))
}

// recordPairs records the total variation of every pair, and of the worst triples.
func (r *marginalRun) recordPairs(k int, suffix string, list []metric.MarginalComparison) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	if k > 2 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].L1, list[a].L1) })
		order = order[:min(len(order), worstMarginals)]
	}
	for _, i := range order {
		r.Add("total_variation"+suffix, r.label(r.queries[k].list[i]), metric.Or(list[i].TotalVariation, r.empty()))
	}
}

// label names a marginal by its columns.
func (r *marginalRun) label(query []int) string {
	names := make([]string, len(query))
	for i, q := range query {
		names[i] = r.table.Columns[q].Name
	}
	return strings.Join(names, ":")
}

// nist scores 3-way marginals as the 2018 NIST challenge did: 100 bins between
// the real extremes, values outside in the end bins (NIST TN 2151). The
// k-marginal score is the same on the scale of SDNist, 0 to 1000.
func (r *marginalRun) nist(ctx context.Context) error {
	if !slices.Contains(r.Ways, 3) {
		return nil
	}
	t, queries := r.table, r.queries[3].list
	if r.Bins != 100 || r.Edges != "real" || r.Outside != "clip" {
		t = metric.Binning{Bins: 100}.CodeAll(r.frames["real"], r.frames["synthetic"], r.env.Workers)
	}
	list, err := r.compare(ctx, t, queries)
	if err != nil {
		return err
	}
	score := metric.Or(metric.SummariseWorkload(list).Score(), r.noMarginal(3))
	score = score.With(r.workloadNote(3))
	r.Add("nist_2018_score", "", metric.Of(score.Value*1e6, score.Note))
	r.Add("k_marginal_score", "", metric.Of(score.Value*1e3, score.Note))
	return nil
}
