package gan

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// DPGAN is the DP-GAN of the thesis of GANAD: a GAN for each label, with noisy critics.
//
// Input: an encoded private table of stability rows(c), one of whose columns is the
// label. Mechanisms, all for all labels at once, since the label of a row is private:
//
//  1. steps noisy sums of per-example gradients over the weights of all critics
//     (train.LabelGAN), each row with one coin a step and one clip, max_grad_norm, over
//     all weights. Sensitivity: max_grad_norm for one row, twice that under replace_one,
//     also for a row that changes its label.
//  2. with labels private the sizes of labels, one noisy histogram (training.LabelSetting).
//
// Adjacency: of the spec. Guarantee: as for repeated(steps, poisson_sampled(gaussian)) and
// gaussian together, for all iterates of critics and generators and the shares of labels:
// generators see noised critics, public latents and noisy shares alone.
//
// The thesis trains the GANs one after the other on the rows of each class, in batches in the order of the file,
// and charges one class; that rows of other classes are apart and how many each has is taken as public. Nothing here
// depends on either. It noises the generators' gradients too, which costs nothing and proves nothing.
// Its generators put out numbers without an activation, and categories as numbers; here a number has the
// range of its encoding, a category is drawn.
type DPGAN struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier remove_anomalies label labels label_share generator latent_dim critic dropout loss critic_steps generator_steps optimiser learning_rate generator_rate weight_clip average generated_batch checkpoint_every" doc.generator:"Units of the generators' hidden layers, of LeakyReLU; none ([]) is one linear layer before the outputs, as published." doc.latent_dim:"Dimension of the standard normal vector that a generated row starts from; by default the width of the encoded table." doc.critic:"Units of the critics' hidden layers, of LeakyReLU." enum.optimiser:"rmsprop|adam" doc.optimiser:"Optimiser of critics and generators; adam has betas 0.9 and 0.999." doc.generated_batch:"Generated rows of each label per step; they cost no privacy."`
	Dropout           float64 `yaml:"dropout" json:"dropout" min:"0" exclusiveMax:"1" doc:"Share of the critics' hidden units that are left out at random, row by row; 0 is none."`
	Loss              string  `yaml:"loss" json:"loss" enum:"cross_entropy|wasserstein" doc:"cross_entropy: critics say how likely a row is real (Goodfellow et al. 2014); wasserstein: they score rows, with weight_clip."`
}

func dpGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_gan", Version: 2,
		Doc: "GAN for each label of a column, by DP-SGD on the critics. Trains a GAN for each label of a column by DP-SGD " +
			"on the critics, and releases the generators (the DP-GAN of " +
			"the GANAD thesis). " +
			"Labels are private: all critics learn in the same steps under one clip, and shares of labels are noisy or equal. " +
			"Use it after encode where one column, such as a target, divides the rows; dp_syn and dp_wgan are alternatives. " +
			"Needs an encoded table of stability rows(c).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."},
			training.DetectorPort()},
		Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel,
			Doc: "The generators, each with the share of its label."}},
		Readers: training.Readers(),
		New: func() pipeline.Stage {
			return &DPGAN{Loss: "wasserstein",
				Settings: training.Settings{LabelSetting: training.LabelSetting{Labels: "private", LabelShare: 0.05},
					Sampling:  training.Sampling{Steps: 4000, ExpectedBatchSize: 1000, MaxGradNorm: 0.25},
					Generator: []int{64}, LatentDim: 32, Critic: []int{64}, CriticSteps: 5, GeneratorSteps: 1, Optimiser: "rmsprop",
					LearningRate:  1e-3,
					GeneratorRate: 5e-4, WeightClip: 0.05,
					Average: 0.995, GeneratedBatch: 128, CheckpointEvery: 2000}}
		},
	}
}

// Plan prices the training.
func (s *DPGAN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	rate := s.Rate(h, &ps)
	column := training.LabelColumn(h.Domain, s.Label, &ps)
	if s.Steps < s.CriticSteps {
		ps.Add("steps", fmt.Sprintf("%d, so that the generators are never trained", s.Steps),
			fmt.Sprintf("at least critic_steps, %d", s.CriticSteps))
	}
	if s.Loss == "wasserstein" && s.WeightClip == 0 {
		ps.Add("weight_clip", "0, with which the scores of a critic have no bound", "above 0 with loss: wasserstein")
	}
	if column >= 0 && len(h.Domain.Columns) == 1 {
		ps.Add("label", "the only column of the table", "a column of a table that has others: the nets learn those")
	}
	s.CheckRemoval(in, &ps, training.Batch{Setting: "expected_batch_size", Rows: s.ExpectedBatchSize},
		training.Batch{Setting: "generated_batch", Rows: float64(s.GeneratedBatch)})
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	l := &labelled{DPGAN: s, domain: h.Domain, column: column, labels: h.Domain.Columns[column].Encoding.Width}
	if err := l.plan(rate); err != nil {
		return pipeline.Work{}, err
	}
	out := training.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: append([]pipeline.Spend{{Name: training.Spend,
			Doc:       fmt.Sprintf("DP-SGD on the critics of %d labels, sampling rate %.4g", l.labels, rate),
			Mechanism: func(scale float64) privacy.Mechanism { return s.DPSGD(scale, rate, l.weights()) }}},
			s.LabelSpends(s.Sampling, rate, l.labels)...),
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: publishedDPGAN(rate, int64(s.Steps)),
			Unproven: s.UnprovenBeside(in, s.UnprovenLabels())},
		Findings: s.Findings("expected_batch_size", h),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			parts, err := l.run(ctx, env, in)
			if err != nil {
				return nil, err
			}
			model, err := training.Release(out, "dp_gan", parts...)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// labelled is a training that is planned.
type labelled struct {
	*DPGAN
	domain         *domain.Domain
	column, labels int
	critic, gen    *net.Net // of one label; the generator as OfLabel and WithoutLabel take it
	blank          *net.Net // the generator in training: zeros for the label
}

func (l *labelled) plan(rate float64) (err error) {
	if l.critic, l.gen, err = l.nets(l.domain, l.labels, l.GeneratedBatch); err != nil {
		return err
	}
	if l.blank, err = training.WithoutLabel(l.gen, l.domain, l.column); err != nil {
		return err
	}
	return training.InReach(l.DPSGD(1, rate, l.weights()))
}

func (l *labelled) weights() int { return l.labels * l.critic.Params() }

// run reads the table, then pays, learns, and gives the part of each label.
func (l *labelled) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) ([]training.Part, error) {
	table, err := columns.ReadEncoded(ctx, in["in"])
	if err != nil {
		return nil, err
	}
	rows, err := table.RowsWithout(l.column)
	if err != nil {
		return nil, err
	}
	group, err := table.Codes(l.column)
	if err != nil {
		return nil, err
	}
	worst, err := l.WorstOfLabels(ctx, env, in, table, l.column)
	if err != nil {
		return nil, err
	}
	paid, hooks, err := training.Pay(env, l.CheckpointEvery)
	if err != nil {
		return nil, err
	}
	shares, err := l.LabelShares(env, group, l.labels)
	if err != nil {
		return nil, err
	}
	random := env.Rand("weights")
	var critics, generators []float32
	for range l.labels {
		critics, generators = append(critics, l.critic.Init(random)...), append(generators, l.blank.Init(random)...)
	}
	c := l.config(env, shares)
	c.Worst = worst
	trained, err := train.LabelGAN(ctx, c, l.critic, l.blank, critics, generators, rows, group, paid, hooks)
	if err != nil {
		return nil, err
	}
	return l.parts(shares, trained)
}

func (l *labelled) config(env *pipeline.Env, shares []float64) train.LabelGANConfig {
	return train.LabelGANConfig{Labels: l.labels, Shares: training.SharesInTraining(shares), Loss: l.Loss,
		CriticSteps: l.CriticSteps, GeneratorSteps: l.GeneratorSteps,
		WeightClip: l.WeightClip, GeneratorBatch: l.GeneratedBatch, Critic: l.optimiser(l.LearningRate),
		Generator: l.optimiser(l.generatorRate()),
		Average:   l.Average, Seed: env.Rand("training").Uint64()}
}

func (s *DPGAN) generatorRate() float64 {
	if s.GeneratorRate > 0 {
		return s.GeneratorRate
	}
	return s.LearningRate
}

func (s *DPGAN) optimiser(rate float64) train.Optimiser {
	if s.Optimiser == "adam" {
		return train.Adam(rate, 0.9, 0.999)
	}
	return train.RMSProp(rate)
}

// parts returns generators, each of which says its own label.
func (l *labelled) parts(shares []float64, w []float32) ([]training.Part, error) {
	parts, each := make([]training.Part, l.labels), l.gen.Params()
	for label := range parts {
		labels, err := training.OfLabel(l.gen, l.domain, l.column, label)
		if err != nil {
			return nil, err
		}
		parts[label] = training.Part{Share: shares[label], Net: labels, Weights: w[label*each:][:each]}
	}
	return parts, nil
}

// leakThesis is the slope of LeakyReLU below zero in the critics of the GANAD thesis.
const leakThesis = 0.3

// atWork is the number of private rows whose gradients are taken side by side, on 8 cores; each
// label has room for all of them.
const atWork = 8 * 128

// nets returns the nets of the settings, if a training of the given number of labels can hold them.
func (s *DPGAN) nets(d *domain.Domain, labels, batch int) (critic, gen *net.Net, err error) {
	var ps schema.Problems
	training.Shallow(&ps, "critic", s.Critic)
	training.Shallow(&ps, "generator", s.Generator)
	width := training.Width(d)
	latent := s.LatentDim
	if latent == 0 {
		latent = width
	}
	c, g := training.Widths(width, s.Critic, 1), training.Widths(1, s.Generator, width)
	all := float64(labels) * training.NetCopies
	training.Fits(&ps, training.Costs("generator", fmt.Sprintf("%v for %d labels", s.Generator, labels),
		float64(all*training.Weights(g...))),
		training.Costs("latent_dim", fmt.Sprint(latent),
			float64(latent)*(float64(all*float64(g[1]))+float64(training.PassCopies*float64(batch)))),
		training.Costs("critic", fmt.Sprintf("%v for %d labels", s.Critic, labels), float64(all*training.Weights(c...))+
			float64(float64(labels)*training.PassCopies*atWork*training.Units(c...))),
		training.Costs("generated_batch", fmt.Sprint(batch), training.PassCopies*float64(batch)*(training.Units(g...)+
			training.Units(c...))))
	if err := ps.Err(); err != nil {
		return nil, nil, err
	}
	judge := training.Leaky(leakThesis, s.Critic)
	judge.Dropout = s.Dropout
	return nets(judge, training.Leaky(leakThesis, s.Generator), latent, d)
}
