package anomaly

import (
	"context"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// Program is how the program of the thesis of GANAD trains its detector, instead of DP-SGD.
//
// It clips the gradient of the mean of each batch and adds noise of one standard deviation,
// 0.1/epsilon clips, to every step, which is charged as if there were one: nothing is proven of
// its epsilon (W14, W38; docs/accounting.md section 5). Without an epsilon it adds none, as the
// thesis does before a model: then the detector is as private as the rows, and rows that are
// removed by it may change without bound (W04).
type Program struct {
	Epsilon float64 `yaml:"epsilon,omitempty" json:"epsilon,omitempty" exclusiveMin:"0" doc:"What it takes its noise to cost: a standard deviation of 0.1/epsilon times max_grad_norm a step. Without it there is no noise, the detector stays private, and nothing bounds what removal by it changes."`
	Epochs  int     `yaml:"epochs" json:"epochs" required:"true" min:"1" max:"1000000" doc:"Passes over the rows, 100 in the thesis of GANAD, in batches of expected_batch_size (32) in the order of the table."`
	Rows    int64   `yaml:"rows,omitempty" json:"rows,omitempty" min:"1" max:"2147483647" doc:"Rows that are cut into batches; the public row count of the table by default."`
}

// rows returns the public number of rows that are cut into batches; 0: unknown.
func (p *Program) rows(h pipeline.Header) int64 {
	if p.Rows > 0 {
		return p.Rows
	}
	return h.Rows
}

// multiplier returns the noise of a step in clips.
func (p *Program) multiplier() float64 {
	if p.Epsilon == 0 {
		return 0
	}
	return 0.1 / p.Epsilon
}

// unproven says which rules its account breaks.
func (p *Program) unproven() pipeline.Unproven {
	return pipeline.Unproven{Rule: "W14", Why: "the noise of one step is charged, and every step adds it; " +
		"the gradient of a batch is clipped as a whole, so that one row may turn it around, which is two clips and not one " +
		"(W38)"}
}

func (p *Program) published() *pipeline.Published {
	return &pipeline.Published{Method: "GANAD, Crha 2025: the noise of one step, 0.1/epsilon clips, without composition",
		Epsilon: func(multiplier, _ float64) (float64, error) { return 0.1 / multiplier, nil }}
}

// planProgram plans the program: a charge of which nothing is proven, or none.
func (s *Detector) planProgram(h pipeline.Header) (pipeline.Work, error) {
	var ps schema.Problems
	need(h, &ps)
	s.checkProgram(h, &ps)
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	n, err := autoencoderNet(h.Domain)
	if err != nil {
		return pipeline.Work{}, err
	}
	mean := func(multiplier float64) train.ClippedMean {
		return train.ClippedMean{MaxGradNorm: s.MaxGradNorm, NoiseMultiplier: multiplier, BatchSize: int(s.ExpectedBatchSize),
			Rows: int(s.Program.rows(h)), Epochs: s.Program.Epochs, Weights: n.Params()}
	}
	if err := training.InReach(mean(s.Program.multiplier())); err != nil {
		return pipeline.Work{}, err
	}
	out := detectorHeader(h)
	if s.Program.Epsilon == 0 {
		out.Class = pipeline.Private
	}
	w := releases(out, func(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
		weights, err := s.runProgram(ctx, env, t, n, mean(0))
		if err != nil {
			return pipeline.Table{}, err
		}
		return packAutoencoder(out, n, weights)
	})
	if s.Program.Epsilon > 0 {
		w.Spends = []pipeline.Spend{{Name: training.Spend, Doc: fmt.Sprintf("clipped means of %d batches of the autoencoder",
			mean(0).Steps()),
			Mechanism: func(scale float64) privacy.Mechanism { return mean(scale) }}}
		w.Pricing = pipeline.Pricing{Scale: s.Program.multiplier(), Published: s.Program.published(),
			Unproven: s.Program.unproven()}
	}
	return w, nil
}

// checkProgram says what the program cannot run on, or is not.
func (s *Detector) checkProgram(h pipeline.Header, ps *schema.Problems) {
	if h.Terms.Adjacency != privacy.ReplaceOne {
		ps.Add("program", "given under adjacency "+string(h.Terms.Adjacency),
			"given under replace_one: batches in the order of the table need a fixed number of rows")
	}
	rows := s.Program.rows(h)
	if rows == 0 {
		ps.Refuse("W05", "program.rows", "missing, and the row count of the table is private",
			"given, or follow from dataset.rows_public through stages that keep the count")
	}
	if s.SamplingRate > 0 || s.NoiseMultiplier > 0 {
		ps.Add("program", "given together with sampling_rate or noise_multiplier",
			"given without them: it samples nothing, and its noise follows from its epsilon")
	}
	if s.Optimiser != "sgd" || s.Average > 0 {
		ps.Add("program", fmt.Sprintf("given together with optimiser: %s and average: %g", s.Optimiser, s.Average),
			"given with optimiser: sgd and average: 0, as it descends")
	}
	if b := s.ExpectedBatchSize; b != math.Trunc(b) || rows > 0 && b > float64(rows) {
		ps.Add("expected_batch_size", fmt.Sprint(b), "a whole number of at most the rows, as program cuts batches of a "+
			"fixed size")
	}
	if s.Program.Epsilon == 0 && h.Terms.Claims == pipeline.ClaimsProven {
		ps.Refuse("W04", "program.epsilon", "missing under claims: proven, so that rows would be removed by a detector "+
			"that is fitted on them without noise: one row may change which of all others go",
			"the kind without program, which is charged for; claims: published runs it with no epsilon proven, only to "+
				"reproduce what a paper ran")
	}
}

// runProgram returns the weights. The table is read before anything is paid.
func (s *Detector) runProgram(ctx context.Context, env *pipeline.Env, t pipeline.Table, n *net.Net,
	free train.ClippedMean) ([]float32, error) {
	o, err := objective(ctx, t, n)
	if err != nil {
		return nil, err
	}
	start := make([]float32, n.Params())
	train.StandardNormal(start, env.Rand("weights"))
	if s.Program.Epsilon == 0 {
		return free.Fit(ctx, o, s.LearningRate, start, o.X.Len(), nil, train.Hooks{})
	}
	paid, hooks, err := training.Pay(env, s.CheckpointEvery)
	if err != nil {
		return nil, err
	}
	planned, ok := paid.Mechanism().(train.ClippedMean)
	if !ok {
		return nil, fmt.Errorf("paid: is %T: %w", paid.Mechanism(), privacy.ErrUses)
	}
	return planned.Fit(ctx, o, s.LearningRate, start, o.X.Len(), paid, hooks)
}
