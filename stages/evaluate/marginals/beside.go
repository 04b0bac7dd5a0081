package marginals

import (
	"context"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/account"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/marginal"
	"weir/stages/internal/question"
)

// beside are the tables that the synthetic one is seen beside, each against real; nil
// where there is none.
type beside struct {
	train       *marginal.Table // the rows that the model learnt from
	independent *marginal.Table // columns drawn independently from real rows, without noise
	baseline    *marginal.Table // independent columns at the same epsilon
	source      string          // what the independent columns are drawn from
	noise       string          // what the baseline is
}

// tablesBeside codes and draws them.
func (r *marginalRun) tablesBeside(b marginal.Binning) {
	real := r.frames["real"]
	from := r.table.Swapped()
	r.source = "the real rows themselves"
	if train := r.frames["real_train"]; train != nil {
		r.source, r.train = "real_train", b.CodeAll(real, train, r.env.Workers)
		from = r.train
	}
	if from.Synth > 0 {
		r.independent = from.Independent(r.table, r.env.Rand("independent baseline"))
	}
	sd := r.budgetNoise(len(from.Columns), r.unitRows)
	switch f := r.frames["baseline"]; {
	case f != nil:
		r.baseline, r.noise = b.CodeAll(real, f, r.env.Workers), "the table that is connected"
	case sd > 0 && from.Synth > 0:
		r.baseline = from.Noisy(r.table, sd, r.env.Rand("noisy baseline"))
		r.noise = fmt.Sprintf("columns drawn independently from counts of %s with Gaussian noise of %.3g rows, which is what epsilon %g at delta %g leaves; "+
			"simulated, so that nothing is spent", r.source, sd, float64(r.env.Plan.Budget), r.env.Plan.Delta)
	}
}

// budgetNoise is the standard deviation of the noise that the counts of every column have where the whole budget of the
// spec pays for them in one Gaussian release; 0 where there is no budget. A unit's rows, most at most, may all have the
// same values: they move a cell of each column, or two if they are replaced, by as many as they are. This noise
// protects nobody: the figures that it enters are private, whatever it is.
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

// tablesRead is how many tables are compared over every workload.
func (r *marginalRun) tablesRead() int {
	n := 1
	for _, t := range []*marginal.Table{r.train, r.independent, r.baseline} {
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
		table *marginal.Table
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
		f := metric.Or(marginal.Summarise(list).MeanL1/2, question.Empty(t.table.Real, 1), r.noRows(string(t.role)),
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

// dependsOnBudget is the work of a comparison that simulates what the budget gives.
func dependsOnBudget(w pipeline.Work) pipeline.Work {
	w.OfBudget = true
	return w
}
