package marginals

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/marginal"
)

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
		r.Add("equivalent_subsample", "", metric.None(r.empty(), fmt.Sprintf("needs %d real rows to draw from, rows to judge and two columns", smallestSample)))
		return nil
	}
	own, err := r.compare(ctx, r.table, queries)
	if err != nil {
		return err
	}
	f, err := r.equivalent(ctx, source, marginal.Summarise(own).MeanL1)
	if err != nil {
		return err
	}
	f.Note = metric.Notes("share of "+r.source+" whose 2-way total variation is the same", f.Note)
	r.Add("equivalent_subsample", "", f)
	return nil
}

func (r *marginalRun) equivalent(ctx context.Context, source *marginal.Table, wanted float64) (metric.Noted, error) {
	order := r.env.Rand("sub-sample").Perm(source.Synth)
	lastSize, last := 0, math.NaN()
	for size := smallestSample; ; size = min(2*size, source.Synth) {
		list, err := r.compare(ctx, source.Sample(order[:size]), r.queries[2].list)
		if err != nil {
			return metric.Noted{}, err
		}
		at := marginal.Summarise(list).MeanL1
		switch {
		case at <= wanted && lastSize == 0:
			return metric.Of(float64(size)/float64(source.Synth), fmt.Sprintf("or less: %d rows are nearer already", size)), nil
		case at <= wanted:
			t := (last - wanted) / (last - at)
			rows := bitmath.Exp(bitmath.Log(float64(lastSize)) + float64(t*bitmath.Log(float64(size)/float64(lastSize))))
			return metric.Of(rows / float64(source.Synth)), nil
		case size == source.Synth:
			return metric.Of(1, "the synthetic rows are nearer than all of them"), nil
		}
		lastSize, last = size, at
	}
}
