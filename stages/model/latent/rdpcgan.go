package latent

import (
	"context"
	"errors"
	"fmt"

	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/labels"
	"weir/stages/model/internal/training"
	"weir/train"
)

const rdpCGAN = "rdp_cgan"

// RDPCGAN is RDP-CGAN (Torfi, Fox, Reddy 2022) as the GANAD thesis runs it: a convolutional
// autoencoder of all rows, and then for each label a convolutional Wasserstein GAN whose
// generator makes codes that the shared decoder turns into rows.
//
// Input: an encoded private table of stability rows(c), one of whose columns is the label,
// which nets see as zeros. Mechanisms, one after the other:
//
//  1. with labels private, the noisy sizes of labels (labels.Setting), whose label_share is reckoned
//     beside phase 3 alone: of the whole stage it is a little less.
//  2. DP-SGD on Poisson samples of all rows: gradients of encoder and decoder together,
//     clipped as one vector to autoencoder.max_grad_norm. (The thesis charges nothing for it.)
//  3. DP-SGD on Poisson samples of all rows: gradients in the weights of the critics of
//     all labels (train.LabelGAN), a row's in those of its own label, clipped as one vector to
//     gan.max_grad_norm.
//
// Sensitivity of 2 and 3: the clip, for one row (twice that under replace_one, applied by the accountant,
// also where a row changes its label; c times for c rows). Adjacency: of the spec. Guarantee: the
// composition of the events, for all iterates of all nets, since generators, clamped weights
// and averages are post-processing (Abadi et al. 2016; docs/accounting.md sections 2 and 4).
//
// A net whose gradients are clipped row by row cannot have batch norm, which mixes rows. The
// program feeds its autoencoder and critics one row at a time, where batch norm is
// instance_norm, which mixes none.
type RDPCGAN struct {
	labels.Setting   `yaml:",inline"`
	Autoencoder      ConvolvedAutoencoder `yaml:"autoencoder" json:"autoencoder" doc:"First phase, for the rows of all labels."`
	GAN              ConvolvedGAN         `yaml:"gan" json:"gan" doc:"Second phase, for each label, with the decoder frozen."`
	training.Removal `yaml:",inline"`
	NoiseRatio       float64 `yaml:"noise_ratio" json:"noise_ratio" exclusiveMin:"0" doc:"Noise multiplier of the autoencoder over that of the critics where both are calibrated to the budget: a public number."`
	CheckpointEvery  int     `yaml:"checkpoint_every" json:"checkpoint_every" min:"1" doc:"Steps between private checkpoints, from which an interrupted run continues."`
}

func rdpCGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: rdpCGAN, Version: 2,
		Doc: "Trains a convolutional autoencoder for all rows and, in its code space, a convolutional Wasserstein GAN for each label, all by DP-SGD, and releases generators and decoder as one (RDP-CGAN, Torfi et al. 2022, a GAN a label). " +
			"Labels are private: all critics learn in the same steps, a row in that of its own label. " +
			"Use it after encode, with numbers cut into declared bins, to compare with the paper, or with wide rows whose neighbouring columns belong together, such as samples of a signal; of other tables dp_gan learned more. Needs an encoded table of stability rows(c).",
		In:      []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."}, training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "A generator with its decoder for each label."}},
		Readers: generator.Readers(),
		New: func() pipeline.Stage {
			return &RDPCGAN{
				Setting: labels.Setting{Labels: "private", Share: 0.02},
				Autoencoder: ConvolvedAutoencoder{Sampling: training.Sampling{Steps: 1000, ExpectedBatchSize: 500, MaxGradNorm: 0.5},
					Code: 16, Norm: "none", CodeActivation: "tanh", Loss: "likelihood", LearningRate: 0.003},
				GAN: ConvolvedGAN{Sampling: training.Sampling{Steps: 2000, ExpectedBatchSize: 500, MaxGradNorm: 0.25},
					CriticSteps: 5, LearningRate: 1e-3, GeneratorRate: 5e-4, WeightClip: 0.05, GeneratedBatch: 128, Average: 0.99,
					LatentDim: 32, GeneratorNorm: "batch_norm", CriticNorm: "none"},
				NoiseRatio: 0.6, CheckpointEvery: 1000}
		},
	}
}

// Plan prices both phases and the sizes of labels.
func (s *RDPCGAN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	l, err := s.plan(in)
	if err != nil {
		return pipeline.Work{}, err
	}
	out := encoded.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: append(s.Spends(s.GAN.Sampling, l.ganRate, l.labels),
			pipeline.Spend{Name: spendAutoencoder, Doc: fmt.Sprintf("DP-SGD on encoder and decoder, sampling rate %.4g", l.autoencoderRate),
				Mechanism: func(scale float64) privacy.Mechanism { return l.autoencoder(scale) }},
			pipeline.Spend{Name: spendGAN, Doc: fmt.Sprintf("DP-SGD on the critics of %d labels, sampling rate %.4g", l.labels, l.ganRate),
				Mechanism: func(scale float64) privacy.Mechanism { return l.gan(scale) }}),
		Terms:    pipeline.Pricing{Scale: s.GAN.NoiseMultiplier, Published: publishedRDPCGAN(l.ganRate, int64(s.GAN.Steps)), Unproven: s.UnprovenBeside(in, s.Unproven())},
		Findings: append(s.Autoencoder.Findings("autoencoder.expected_batch_size", h), s.GAN.Findings("gan.expected_batch_size", h)...),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			parts, err := l.train(ctx, env, in)
			if err != nil {
				return nil, err
			}
			model, err := generator.Release(out, rdpCGAN, parts...)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

func (s *RDPCGAN) plan(in pipeline.Headers) (*convolved, error) {
	h := in["in"]
	var ps schema.Problems
	encoded.Need(h, &ps)
	generator.Readable(h, &ps)
	l := &convolved{RDPCGAN: s, column: labels.Column(h.Domain, s.Label, &ps)}
	within(&ps, "autoencoder", func(ps *schema.Problems) { l.autoencoderRate = s.Autoencoder.Rate(h, ps) })
	within(&ps, "gan", func(ps *schema.Problems) { l.ganRate = s.GAN.Rate(h, ps) })
	judgePhases(s.Autoencoder.Sampling, s.GAN.Sampling, s.GAN.CriticSteps, &ps)
	s.CheckRemoval(in, &ps, batchesOf(s.Autoencoder.Sampling, s.GAN.Sampling, s.GAN.GeneratedBatch)...)
	if err := ps.Err(); err != nil {
		return nil, err
	}
	l.labels = h.Domain.Columns[l.column].Encoding.Width
	if err := l.build(h.Domain, &ps); err != nil || len(ps) > 0 {
		return nil, errors.Join(err, ps.Err())
	}
	if l.fits(&ps); len(ps) == 0 {
		within(&ps, "autoencoder", func(ps *schema.Problems) { reach(ps, l.autoencoder(1)) })
		within(&ps, "gan", func(ps *schema.Problems) { reach(ps, l.gan(1)) })
	}
	return l, ps.Err()
}

// autoencoder and gan are the values from which sampler, clip, noise and event of a
// phase come. scale is the critics' noise multiplier.
func (l *convolved) autoencoder(scale float64) train.DPSGD {
	multiplier := ratio(scale, l.Autoencoder.NoiseMultiplier, l.GAN.NoiseMultiplier, l.NoiseRatio)
	return l.Autoencoder.DPSGD(multiplier, l.autoencoderRate, l.auto.Params())
}

func (l *convolved) gan(scale float64) train.DPSGD {
	return l.GAN.DPSGD(scale, l.ganRate, l.labels*l.critic.Params())
}
