// Package marginals asks whether the marginals of a synthetic table are those of real rows.
package marginals

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/marginal"
	"weir/stages/internal/question"
)

// settings says which marginals are compared.
type settings struct {
	Ways       []int  `yaml:"ways" json:"ways" min:"1" max:"3" minItems:"1" unique:"true" doc:"How many columns the marginals have."`
	Bins       int    `yaml:"bins" json:"bins" min:"2" max:"10000" doc:"Number of equal-width bins that a numeric column is cut into."`
	Edges      string `yaml:"edges" json:"edges" enum:"declared|real" doc:"Bins lie between the declared bounds of a column where it has them, or between the extremes of the real rows."`
	Outside    string `yaml:"outside" json:"outside" enum:"clip|own_bins" doc:"Values outside the edges go to the end bins, or to a bin below and one above."`
	MaxQueries int    `yaml:"max_queries" json:"max_queries" min:"1" doc:"If there are more marginals with the same number of columns, this many are drawn at random."`
}

// Kinds lists the kind of this question.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{{
		Name: "marginals", Version: 9, Late: true,
		In:  question.Ports("how far they are from `real` is what real rows reach"),
		Out: question.Metrics(), Figures: figures(),
		Doc: "Compares the 1-, 2- and 3-way marginals of a synthetic table with those of real rows: total variation, L1, L2, Jensen-Shannon " +
			"(the divergence, its root, and the half Jeffreys divergence that DP-auto-GAN prints), KL both ways, mu-smoothed KL, Hellinger; for single " +
			"columns also chi-square, and for numbers Kolmogorov-Smirnov (p exact up to 25 million pairs of rows, or 1000 million over all columns, the limit beyond), Wasserstein and " +
			"energy distance; the score of the 2018 NIST challenge and dimension-wise probability; mean, standard deviation, median, 95 and 99 % quantiles of numbers, " +
			"shares of categories and of missing values, judged together against real rows dealt to two tables at random (statistic_loss). Missing is one more value. Columns of text are " +
			"left out. Beside the mean total variation stand that of other real rows (_real_train), of columns drawn independently from the real ones " +
			"(_independent), of independent columns at the same epsilon (_baseline: the port, or else simulated with the noise that the budget of the spec " +
			"leaves to counts of single columns), and the share of real rows whose 2-way marginals are as far away. Use it after sample, to see what single columns and " +
			"their combinations keep.",
		New: func() pipeline.Stage {
			return &settings{Ways: []int{1, 2, 3}, Bins: marginal.Usual().Bins, Edges: "declared", Outside: "clip", MaxQueries: 1000}
		},
	}}
}

// Plan implements pipeline.Stage.
func (s *settings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	real := in["real"]
	return dependsOnBudget(question.Work(real, func(ctx context.Context, env *pipeline.Env, frames question.Frames) ([]pipeline.Metric, error) {
		return s.measure(ctx, &marginalRun{settings: s, env: env, frames: frames, unitRows: rowsOfUnit(real), queries: map[int]workloads{}})
	})), nil
}

func (s *settings) measure(ctx context.Context, r *marginalRun) ([]pipeline.Metric, error) {
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
	*settings
	metric.List
	env      *pipeline.Env
	frames   map[string]*columns.Frame
	table    *marginal.Table // real and synthetic
	unitRows int             // the most rows of a privacy unit
	beside
	notes       string
	queries     map[int]workloads
	done, total int64
}

// workloads are the marginals of one number of columns.
type workloads struct {
	list  [][]int
	drawn bool
}

// code puts all tables in codes.
func (r *marginalRun) code() {
	b := marginal.Binning{Bins: r.Bins, Declared: r.Edges == "declared", OwnBins: r.Outside == "own_bins"}
	real := r.frames["real"]
	r.table = b.CodeAll(real, r.frames["synthetic"], r.env.Workers)
	r.notes = question.Dropped(&columns.Frame{Dropped: append(slices.Clone(real.Dropped), r.table.Skipped...)})
	r.tablesBeside(b)
	for _, k := range r.Ways {
		most := r.MaxQueries
		if k == 1 {
			most = len(r.table.Columns) // single columns are all compared
		}
		list, drawn := r.table.Queries(k, most, r.env.Rand(fmt.Sprintf("%d-way marginals", k)))
		r.queries[k] = workloads{list, drawn}
	}
}

// planned is the most marginals that the run counts, whatever its rows are: the
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
func (r *marginalRun) compare(ctx context.Context, t *marginal.Table, queries [][]int) ([]marginal.Comparison, error) {
	before := r.done
	list, err := t.Compare(ctx, queries, r.env.Workers, func(done int) { r.env.Progress(min(before+int64(done), r.total), r.total) })
	r.done = before + int64(len(queries))
	return list, err
}

// empty says which table has no rows; "" where both have some.
func (r *marginalRun) empty() string { return question.Empty(r.table.Real, r.table.Synth) }
