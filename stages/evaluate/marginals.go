package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/metric"
)

// marginalSettings says which marginals are compared.
type marginalSettings struct {
	Ways       []int  `yaml:"ways" json:"ways" min:"1" max:"3" minItems:"1" unique:"true" doc:"How many columns the marginals have."`
	Bins       int    `yaml:"bins" json:"bins" min:"2" max:"10000" doc:"Number of equal-width bins that a numeric column is cut into."`
	Edges      string `yaml:"edges" json:"edges" enum:"declared|real" doc:"Bins lie between the declared bounds of a column where it has them, or between the extremes of the real rows."`
	Outside    string `yaml:"outside" json:"outside" enum:"clip|own_bins" doc:"Values outside the edges go to the end bins, or to a bin below and one above."`
	MaxQueries int    `yaml:"max_queries" json:"max_queries" min:"1" doc:"If there are more marginals with the same number of columns, this many are drawn at random."`
}

// marginalsKind declares the kind that asks whether the marginals of a synthetic table match the marginals of real
// rows.
func marginalsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "marginals", Version: 9, Late: true,
		In:  Ports("how far they are from `real` is what real rows reach"),
		Out: Metrics(), Figures: marginalFigures(),
		Doc: "Compares the 1-, 2- and 3-way marginals of synthetic and real rows. Distances are total variation, L1, " +
			"L2, Jensen-Shannon " +
			"(the divergence, its root, and the half Jeffreys divergence that DP-auto-GAN prints), KL both ways, mu-smoothed " +
			"KL, Hellinger; for single " +
			"columns also chi-square, and for numbers Kolmogorov-Smirnov (p exact up to 25 million pairs of rows, or 1000 " +
			"million over all columns, the limit beyond), Wasserstein and " +
			"energy distance; the score of the 2018 NIST challenge and dimension-wise probability; mean, standard deviation, " +
			"median, 95 and 99 % quantiles of numbers, " +
			"shares of categories and of missing values, judged together against real rows dealt to two tables at random " +
			"(statistic_loss). Missing is one more value. Columns of text are " +
			"left out. Beside the mean total variation stand that of other real rows (_real_train), of columns drawn " +
			"independently from the real ones " +
			"(_independent), of independent columns at the same epsilon (_baseline: the port, or else simulated with the " +
			"noise that the budget of the spec " +
			"leaves to counts of single columns), and the share of real rows whose 2-way marginals are as far away. Use it " +
			"after sample, to see what single columns and " +
			"their combinations keep.",
		New: func() pipeline.Stage {
			return &marginalSettings{Ways: []int{1, 2, 3}, Bins: metric.UsualBinning().Bins, Edges: "declared", Outside: "clip",
				MaxQueries: 1000}
		},
	}
}

// Plan implements pipeline.Stage.
func (s *marginalSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	real := in["real"]
	return dependsOnBudget(Work(real, func(ctx context.Context, env *pipeline.Env, frames Frames) (
		[]pipeline.Metric, error) {
		return s.measure(ctx, &marginalRun{marginalSettings: s, env: env, frames: frames, unitRows: rowsOfUnit(real),
			queries: map[int]marginalWorkloads{}})
	})), nil
}

func (s *marginalSettings) measure(ctx context.Context, r *marginalRun) ([]pipeline.Metric, error) {
	r.code()
	r.total = r.planned()
	for _, part := range []func(context.Context) error{r.perColumn, r.kWay, r.nist, r.subsample, r.statistics} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	r.env.Progress(r.total, r.total)
	return r.Metrics, nil
}

// marginalRun is one run of Marginals.
type marginalRun struct {
	*marginalSettings
	metric.List
	env      *pipeline.Env
	frames   map[string]*columns.Frame
	table    *metric.CodedTables // real and synthetic
	unitRows int                 // the most rows of a privacy unit
	besideTables
	notes       string
	queries     map[int]marginalWorkloads
	done, total int64
}

// marginalWorkloads are the marginals of one number of columns.
type marginalWorkloads struct {
	list  [][]int
	drawn bool
}

// code puts all tables in codes.
func (r *marginalRun) code() {
	b := metric.Binning{Bins: r.Bins, Declared: r.Edges == "declared", OwnBins: r.Outside == "own_bins"}
	real := r.frames["real"]
	r.table = b.CodeAll(real, r.frames["synthetic"], r.env.Workers)
	r.notes = Dropped(&columns.Frame{Dropped: append(slices.Clone(real.Dropped), r.table.Skipped...)})
	r.tablesBeside(b)
	for _, k := range r.Ways {
		most := r.MaxQueries
		if k == 1 {
			most = len(r.table.Columns) // single columns are all compared
		}
		list, drawn := r.table.Queries(k, most, r.env.Rand(fmt.Sprintf("%d-way marginals", k)))
		r.queries[k] = marginalWorkloads{list, drawn}
	}
}

// planned returns the most marginals that the run counts, whatever its rows are: the
// total of a progress bar would tell how many there are.
func (r *marginalRun) planned() int64 {
	tables, samples := r.tablesRead(), bits.Len(math.MaxInt32/smallestSample)+2
	n := 0
	for k, w := range r.queries {
		n += tables * len(w.list)
		switch k {
		case 2:
			n += samples * len(w.list)
		case 3:
			n += len(w.list)
		}
	}
	return int64(n)
}

// compare runs a workload and reports progress.
func (r *marginalRun) compare(ctx context.Context, t *metric.CodedTables, queries [][]int) ([]metric.MarginalComparison,
	error) {
	before := r.done
	list, err := t.Compare(ctx, queries, r.env.Workers, func(done int) {
		r.env.Progress(min(before+int64(done), r.total),
			r.total)
	})
	r.done = before + int64(len(queries))
	return list, err
}

// empty says which table has no rows; "" where both have some.
func (r *marginalRun) empty() string { return Empty(r.table.Real, r.table.Synth) }

// marginalFigures declares the distances of marginals by their number of columns, and the distances of single columns.
func marginalFigures() pipeline.Figures {
	list := pipeline.Figures{
		variationFigure("", "column", "single columns", "Single columns: total variation", 0.05, 0.15),
		variationFigure(waySuffix(2), "pair", "pairs of columns", "Pairs of columns: total variation", 0.1, 0.3),
		variationFigure(waySuffix(3), "triple", "triples of columns", "Triples of columns: total variation", 0.15, 0.4),
		{Name: "k_marginal_score", Better: pipeline.BetterHigh, Headline: true,
			Doc: "triples of columns, scored as in the NIST challenge of 2018: 0 to 1000, 1000 is best"},
		{Name: "nist_2018_score", Better: pipeline.BetterHigh,
			Doc: "the score of the NIST challenge of 2018, 0 to 1,000,000, more is better"},
		{Name: "equivalent_subsample", Better: pipeline.BetterHigh,
			Doc: "share of the real rows whose pairs of columns are as far away, 1 is best"},
	}
	list[0].Loss = true
	for _, ways := range []struct{ suffix, parts, of string }{
		{"", "column", "single columns"}, {waySuffix(2), "", "pairs of columns"}, {waySuffix(3), "", "triples of columns"},
	} {
		for i, name := range divergenceNames[1:] {
			list = append(list, pipeline.Figure{Name: name + ways.suffix, Parts: ways.parts,
				Better: pipeline.BetterLow, Doc: ways.of + ": " + divergenceDocs()[i] + ", 0 is best"})
		}
		if ways.suffix != "" {
			list = append(list, pipeline.Figure{Name: "max_total_variation" + ways.suffix, Better: pipeline.BetterLow,
				Doc: ways.of + ": greatest total variation, 0 is best"},
				pipeline.Figure{Name: "max_cell_error" + ways.suffix, Better: pipeline.BetterLow,
					Doc: ways.of + ": greatest difference of the share of a cell, 0 is best"})
		}
	}
	return slices.Concat(list, statisticFigures(), columnFigures(), probabilityFigures())
}

// variationFigure declares the total variation of marginals of the given number of columns.
func variationFigure(suffix, parts, name, label string, good, fair float64) pipeline.Figure {
	return pipeline.Figure{Name: "total_variation" + suffix, Parts: parts, Better: pipeline.BetterLow, Headline: true,
		Worst:   true,
		Doc:     name + ": share of rows that would have to change, 0 is best",
		Beside:  []pipeline.Role{pipeline.RealTrain, pipeline.Independent, pipeline.Baseline},
		Verdict: &pipeline.Verdict{Label: label, Joint: suffix != "", Good: good, Fair: fair}}
}

// divergenceDocs says what divergenceNames are, but the first.
func divergenceDocs() [len(divergenceNames) - 1]string {
	return [...]string{"sum of the differences of shares", "root of the sum of their squares",
		"Jensen-Shannon divergence", "its root",
		"half Jeffreys divergence, as DP-auto-GAN prints it",
		"Kullback-Leibler divergence of real from synthetic shares",
		"Kullback-Leibler divergence of synthetic from real shares", "Kullback-Leibler divergence, smoothed",
		"Hellinger distance"}
}

// columnFigures declares what is computed of single columns alone.
func columnFigures() pipeline.Figures {
	column := func(name string, better pipeline.Better, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: "column", Better: better, Doc: doc}
	}
	return pipeline.Figures{
		column("chi_square", pipeline.BetterLow, "two-sample chi-square statistic, 0 is best"),
		column("chi_square_p", pipeline.BetterPlain, "its p-value where both tables follow one distribution"),
		column("ks", pipeline.BetterLow, "greatest difference of the distribution functions, 0 is best"),
		column("ks_p", pipeline.BetterPlain, "its p-value where both tables follow one distribution"),
		column("wasserstein", pipeline.BetterLow,
			"mean distance that values have to move, in units of the column, 0 is best"),
		column("wasserstein_over_range", pipeline.BetterLow,
			"mean distance that values have to move, over the real range, 0 is best"),
		column("wasserstein_over_sd", pipeline.BetterLow,
			"mean distance that values have to move, over the real standard deviation, 0 is best"),
		column("energy", pipeline.BetterLow, "energy distance, in units of the column, 0 is best"),
		column("outside_edges", pipeline.BetterLow,
			"share of synthetic values beyond the edges of the bins, 0 is best"),
	}
}

// probabilityFigures declares dimension-wise probability.
func probabilityFigures() pipeline.Figures {
	const share = "category"
	return pipeline.Figures{
		{Name: "probability_mean_absolute_error", Better: pipeline.BetterLow,
			Beside: []pipeline.Role{pipeline.Baseline}, Doc: "shares of categories: mean error, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Shares of categories: mean error", Good: 0.02, Fair: 0.08}},
		{Name: "probability_rmse", Better: pipeline.BetterLow,
			Doc: "shares of categories: root of the mean squared error, 0 is best"},
		{Name: "probability_sum_of_squares", Better: pipeline.BetterLow,
			Doc: "shares of categories: sum of squared errors, 0 is best"},
		{Name: "probability_max_absolute_error", Better: pipeline.BetterLow,
			Doc: "shares of categories: greatest error, 0 is best"},
		{Name: "probability_distance_from_diagonal", Better: pipeline.BetterLow,
			Doc: "shares of categories: mean distance from the line of equal shares, 0 is best"},
		{Name: "probability_absent_real", Better: pipeline.BetterPlain,
			Doc: "shares of categories: categories that no real row has"},
		{Name: "probability_absent_synthetic", Better: pipeline.BetterPlain, Real: "probability_absent_real",
			Doc: "shares of categories: categories that no synthetic row has"},
		{Name: "probability_pearson", Better: pipeline.BetterHigh,
			Doc: "shares of categories: correlation of real and synthetic ones, 1 is best"},
		{Name: "probability_real", Parts: share, Better: pipeline.BetterPlain,
			Doc: "share of real rows with the category"},
		{Name: "probability_synthetic", Parts: share, Better: pipeline.BetterPlain, Real: "probability_real",
			Pair: metric.Probability, Doc: "share of synthetic rows with the category"},
		RowsFigure(),
	}
}
