package evaluate

import (
	"context"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/stages/evaluate/frame"
	"weir/stages/evaluate/metric/marginal"
)

// Marginals compares the marginals of a synthetic table with those of real rows.
type Marginals struct {
	Bins    int    `yaml:"bins" json:"bins" min:"2" max:"10000" doc:"Equal-width bins that a numeric column is cut in."`
	Edges   string `yaml:"edges" json:"edges" enum:"declared|real" doc:"Bins lie between the declared bounds of a column where it has them, or between the extremes of the real rows."`
	Outside string `yaml:"outside" json:"outside" enum:"clip|own_bins" doc:"Values outside the edges go to the end bins, or to a bin below and one above."`
}

func marginalsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "marginals", Version: 1,
		In: []pipeline.Port{
			tablePort("real", "real rows, best those that no model saw", false),
			tablePort("synthetic", "the rows to judge", false),
		},
		Out: metricsOut(),
		Doc: "Compares the distribution of each column of a synthetic table with that of real rows. Use it after sample.",
		New: func() pipeline.Stage { return &Marginals{Bins: 100, Edges: "declared", Outside: "clip"} },
	}
}

// Plan implements pipeline.Stage.
func (s *Marginals) Plan(in pipeline.Headers) (pipeline.Outline, error) {
	return pipeline.Outline{Out: pipeline.Headers{"out": metricsHeader(in["real"])}}, nil
}

// Run implements pipeline.Stage.
func (s *Marginals) Run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	frames, err := readAligned(ctx, in, "real", "synthetic")
	if err != nil {
		return nil, err
	}
	real, synth := frames["real"], frames["synthetic"]
	b := marginal.Binning{Bins: s.Bins, Declared: s.Edges == "declared", OwnBins: s.Outside == "own_bins"}
	t := b.CodeAll(real, synth, env.Workers)
	metrics, err := s.oneWay(ctx, env, t, dropNotes(&frame.Frame{Dropped: append(real.Dropped, t.Skipped...)}))
	if err != nil {
		return nil, err
	}
	return pipeline.Tables{"out": pipeline.WriteMetrics(metricsHeader(in["real"].Header), metrics)}, nil
}

func (s *Marginals) oneWay(ctx context.Context, env *pipeline.Env, t *marginal.Table, notes string) ([]pipeline.Metric, error) {
	queries, _ := marginal.Queries(len(t.Columns), 1, math.MaxInt, nil)
	list, err := t.Compare(ctx, queries, env.Workers, func(done int) { env.Progress(int64(done), int64(len(queries))) })
	if err != nil {
		return nil, err
	}
	why := ""
	if t.Real == 0 || t.Synth == 0 {
		why = fmt.Sprintf("a table is empty: %d real and %d synthetic rows", t.Real, t.Synth)
	}
	var metrics []pipeline.Metric
	sum := 0.0
	for i, c := range list {
		metrics = append(metrics, pipeline.Metric{Name: "total_variation", Column: t.Columns[i].Name, Value: c.TotalVariation, Note: why})
		sum += c.TotalVariation
	}
	if len(list) == 0 {
		why = joinNotes(why, "the tables have no column in common")
	}
	mean := pipeline.Metric{Name: "total_variation", Value: sum / float64(len(list)), Note: joinNotes(why, notes)}
	return append([]pipeline.Metric{mean}, metrics...), nil
}
