package gan

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/privacy"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// GSWGAN is GS-WGAN (Chen, Orekondy, Fritz 2020) on tables, with critics on
// disjoint shards, in the variants that have a proof.
//
// Input: an encoded private table of stability shards(k). Mechanism: at each
// step, the gradients of the critics' scores at the generated rows, clipped row
// by row to max_grad_norm and noised. Sensitivity: a changed shard moves the
// gradient of its critic anywhere in the clip ball, by up to 2 max_grad_norm,
// under either adjacency. Guarantee: query sample draws an independent secret
// critic for each generated row, which is sampling one of k shards without
// replacement (Wang, Balle, Kasiviswanathan 2019; docs/accounting.md section 3.5);
// query mean averages all critics and is a plain Gaussian mechanism of
// sensitivity 2 max_grad_norm sqrt(batch_size)/k a step. Critics are trained on a
// public schedule, never because they were drawn (W37). The published variant,
// one drawn critic for a whole batch, has no useful proven bound (W36).
type GSWGAN struct {
	Steps           int     `yaml:"steps" json:"steps" min:"1" max:"1000000000" doc:"Steps of the generator; each releases noised gradients once."`
	BatchSize       int     `yaml:"batch_size" json:"batch_size" min:"1" doc:"Generated rows per step, and rows of a critic's batch."`
	Query           string  `yaml:"query" json:"query" enum:"sample|mean" doc:"Who judges a generated row: one critic drawn secretly for it, or all critics averaged."`
	MaxGradNorm     float64 `yaml:"max_grad_norm" json:"max_grad_norm" exclusiveMin:"0" doc:"Bound on the L2 norm of the gradient at one generated row."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise standard deviation over what one shard can change in a release; calibrated to the budget by default."`
	WarmSteps       int     `yaml:"warm_steps" json:"warm_steps" min:"0" doc:"Steps of each critic against a throw-away generator before the first release."`
	CriticSteps     int     `yaml:"critic_steps" json:"critic_steps" min:"1" doc:"Steps of a scheduled critic at each generator step."`
	Scheduled       int     `yaml:"scheduled" json:"scheduled" min:"0" doc:"Critics trained at each generator step, in turn (a public schedule); 0 is all of them."`
	Penalty         float64 `yaml:"penalty" json:"penalty" min:"0" doc:"Weight of the gradient penalty."`
	LearningRate    float64 `yaml:"learning_rate" json:"learning_rate" exclusiveMin:"0" doc:"Learning rate of Adam (betas 0, 0.9) for critics and generator."`
	Average         float64 `yaml:"average" json:"average" min:"0" exclusiveMax:"1" doc:"Decay of the running average of the generator's weights, which is what is released; 0 releases the last weights."`
	LatentDim       int     `yaml:"latent_dim" json:"latent_dim" min:"1" doc:"Dimension of the standard normal vector that a generated row starts from."`
	Generator       []int   `yaml:"generator" json:"generator" min:"1" minItems:"1" doc:"Units of the generator's hidden layers."`
	Critic          []int   `yaml:"critic" json:"critic" min:"1" minItems:"1" doc:"Units of each critic's hidden layers."`
	CheckpointEvery int     `yaml:"checkpoint_every" json:"checkpoint_every" min:"1" doc:"Steps between private checkpoints, from which an interrupted run continues."`
}

func gsWGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "gs_wgan", Version: 2,
		Doc: "Trains a generator against Wasserstein critics on disjoint shards, through clipped and noised gradients at the generated rows (GS-WGAN, Chen et al. 2020, on tables as in the Turku thesis). " +
			"Steps inside a shard, such as impute_knn with scope shard, cost nothing. Query sample and query mean are proven; the published query, one critic for a whole batch, is not offered. " +
			"Use it where rows must be cleaned together. Needs an encoded table of stability shards(k).",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table in shards."}},
		Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The generator."}},
		New: func() pipeline.Stage {
			return &GSWGAN{Steps: 500, BatchSize: 32, Query: "mean", MaxGradNorm: 1, WarmSteps: 500, CriticSteps: 1, Scheduled: 0,
				Penalty: 10, LearningRate: 1e-3, Average: 0.99, LatentDim: 32, Generator: []int{256}, Critic: []int{128}, CheckpointEvery: 5000}
		},
	}
}

// Plan prices the training.
func (s *GSWGAN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps pipeline.Problems
	encoded.Need(h, &ps)
	generator.Readable(h, &ps)
	if h.Stability.Spread != pipeline.SpreadShards {
		ps.Refuse("W22", "from", "a table of stability "+h.Stability.String(), "a table of stability shards(k): put a stage of kind shard before")
	}
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	critics, out := h.Stability.N, encoded.ModelHeader(h)
	critic, gen, err := s.nets(h.Domain, critics)
	if err == nil {
		err = training.InReach(s.query(1, critics, critic.In()))
	}
	if err != nil {
		return pipeline.Work{}, err
	}
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{{Name: training.Spend, Doc: fmt.Sprintf("clipped gradients at generated rows, query %s, %d critics", s.Query, critics),
			Mechanism: func(scale float64) privacy.Mechanism { return s.query(scale, critics, critic.In()) }}},
		Terms: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: publishedGSWGAN(s, critics)},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			trained, err := s.train(ctx, env, in["in"], critics, critic, gen)
			if err != nil {
				return nil, err
			}
			model, err := generator.Release(out, "gs_wgan", generator.Part{Share: 1, Net: gen, Weights: trained})
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// nets are those of the settings, if a training of so many critics can hold them.
func (s *GSWGAN) nets(d *pipeline.Domain, critics int) (critic, gen *net.Net, err error) {
	var ps pipeline.Problems
	generator.Shallow(&ps, "critic", s.Critic)
	generator.Shallow(&ps, "generator", s.Generator)
	width := encoded.Width(d)
	c, g := generator.Widths(width, s.Critic, 1), generator.Widths(1, s.Generator, width)
	generator.Fits(&ps, generator.Costs("generator", fmt.Sprint(s.Generator), generator.NetCopies*generator.Weights(g...)),
		generator.Costs("latent_dim", fmt.Sprint(s.LatentDim), float64(s.LatentDim)*(float64(generator.NetCopies*float64(g[1]))+float64(generator.PassCopies*float64(s.BatchSize)))),
		generator.Costs("critic", fmt.Sprintf("%v on each of %d shards", s.Critic, critics), generator.CriticCopies*float64(critics)*generator.Weights(c...)),
		generator.Costs("batch_size", fmt.Sprint(s.BatchSize), generator.PassCopies*float64(s.BatchSize)*(generator.Units(g...)+generator.Units(c...))))
	if err := ps.Err(); err != nil {
		return nil, nil, err
	}
	return nets(generator.Leaky(leak, s.Critic), generator.Leaky(leak, s.Generator), s.LatentDim, d)
}

// query is the one value from which clip, noise and event come.
func (s *GSWGAN) query(multiplier float64, critics, columns int) train.CriticQuery {
	return train.CriticQuery{MaxGradNorm: s.MaxGradNorm, NoiseMultiplier: multiplier, Steps: s.Steps, BatchSize: s.BatchSize,
		Columns: columns, Critics: critics, Query: train.Query(s.Query)}
}

func (s *GSWGAN) config(critics int, seed uint64) train.GSWGANConfig {
	scheduled := s.Scheduled
	if scheduled == 0 {
		scheduled = critics
	}
	adam := train.Adam(s.LearningRate, 0, 0.9)
	return train.GSWGANConfig{WarmSteps: s.WarmSteps, CriticSteps: s.CriticSteps, Scheduled: scheduled, Penalty: s.Penalty,
		Critic: adam, Generator: adam, Average: s.Average, Seed: seed}
}

// train returns the generator's weights; the critics stay here.
func (s *GSWGAN) train(ctx context.Context, env *pipeline.Env, t pipeline.Table, critics int, critic, gen *net.Net) ([]float32, error) {
	l, err := training.Begin(ctx, env, t, critics, s.CheckpointEvery)
	if err != nil {
		return nil, err
	}
	return train.GSWGAN(ctx, s.config(critics, env.Rand("training").Uint64()), critic, gen, l.Rows, l.Shards, l.Paid, l.Hooks)
}
