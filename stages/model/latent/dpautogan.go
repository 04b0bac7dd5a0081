package latent

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/privacy"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/training"
	"weir/train"
)

const dpAutoGAN = "dp_auto_gan"

// DPAutoGAN is DP-auto-GAN (Tantipongpipat, Waites, Boob, Siva, Cummings 2021): an
// autoencoder, and then a Wasserstein GAN whose generator makes codes that the frozen
// decoder turns into rows.
//
// Input: an encoded private table of stability rows(c). Mechanisms: two runs of DP-SGD
// on Poisson samples, one after the other. The first sums the gradients of encoder and
// decoder together, clipped as one vector to autoencoder.max_grad_norm; the second
// those of a critic on pairs of a real and a generated row, clipped as one to
// gan.max_grad_norm. Sensitivity: the clip, for one row (twice that under
// replace_one, applied by the accountant; c times for c rows). Adjacency: of the spec.
// Guarantee: the composition of both events, for all iterates of all nets, since the
// generator, clamped weights and averages are post-processing (Abadi et al. 2016;
// docs/accounting.md sections 2 and 4).
//
// With noise_on decoder the encoder learns without noise, as in the published program
// and the paper's appendix. That has no guarantee (docs/accounting.md section 2.1, W13).
type DPAutoGAN struct {
	Autoencoder      Autoencoder `yaml:"autoencoder" json:"autoencoder" doc:"First phase."`
	GAN              GAN         `yaml:"gan" json:"gan" doc:"Second phase, with the decoder frozen."`
	training.Removal `yaml:",inline"`
	NoiseRatio       float64 `yaml:"noise_ratio" json:"noise_ratio" exclusiveMin:"0" doc:"Noise multiplier of the autoencoder over that of the critic where both are calibrated to the budget: a public number."`
	NoiseOn          string  `yaml:"noise_on" json:"noise_on" enum:"both|decoder" doc:"Which half of the autoencoder is clipped and noised. decoder is the published program, without a proof (claims: published)."`
	CheckpointEvery  int     `yaml:"checkpoint_every" json:"checkpoint_every" min:"1" doc:"Steps between private checkpoints, from which an interrupted run continues."`
}

func dpAutoGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: dpAutoGAN, Version: 3,
		Doc: "Trains an autoencoder and, in its code space, a Wasserstein GAN, both by DP-SGD, and releases generator and decoder as one (DP-auto-GAN, Tantipongpipat et al. 2021). " +
			"Batches are Poisson samples and one clip covers all weights of an example, encoder and decoder together, so that the bill is proven. " +
			"Use it after encode, for tables of categories and numbers, which come out far nearer cut into declared bins than scaled, or of many binary columns. Needs an encoded table of stability rows(c).",
		In:      []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."}, training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "Generator and decoder in one."}},
		Readers: generator.Readers(),
		New: func() pipeline.Stage {
			return &DPAutoGAN{
				Autoencoder: Autoencoder{Sampling: training.Sampling{Steps: 1000, ExpectedBatchSize: 1000, MaxGradNorm: 0.5},
					Hidden: []int{64}, Code: 16, Activation: "leaky_relu", Heads: "columns", Loss: "sum", LearningRate: 0.003},
				GAN: GAN{Sampling: training.Sampling{Steps: 4000, ExpectedBatchSize: 1000, MaxGradNorm: 0.05},
					CriticSteps: 5, Optimiser: "rmsprop", LearningRate: 1e-3, GeneratorRate: 5e-4, WeightClip: 0.05, GeneratedBatch: 128, Average: 0.995,
					LatentDim: 32, Generator: []int{64}, Norm: "none", Residual: true, Critic: []int{24}},
				NoiseRatio: 0.6, NoiseOn: "both", CheckpointEvery: 2000}
		},
	}
}

// The spends of the two phases.
const (
	spendAutoencoder = "autoencoder"
	spendGAN         = "gan"
)

// Plan prices both phases.
func (s *DPAutoGAN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	plan, err := s.plan(in)
	if err != nil {
		return pipeline.Work{}, err
	}
	out := encoded.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{
			{Name: spendAutoencoder, Doc: fmt.Sprintf("DP-SGD on the autoencoder, noise on %s, sampling rate %.4g", s.noised(), plan.autoencoderRate),
				Mechanism: func(scale float64) privacy.Mechanism { return s.autoencoder(scale, plan) }},
			{Name: spendGAN, Doc: fmt.Sprintf("DP-SGD on the critic, sampling rate %.4g", plan.ganRate),
				Mechanism: func(scale float64) privacy.Mechanism { return s.gan(scale, plan) }},
		},
		Terms:    pipeline.Pricing{Scale: s.GAN.NoiseMultiplier, Published: s.published(plan), Unproven: s.UnprovenBeside(in, s.unproven())},
		Findings: append(s.Autoencoder.Findings("autoencoder.expected_batch_size", h), s.GAN.Findings("gan.expected_batch_size", h)...),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			trained, err := s.train(ctx, env, in, plan)
			if err != nil {
				return nil, err
			}
			model, err := generator.Release(out, dpAutoGAN, generator.Part{Share: 1, Net: plan.chain, Weights: trained})
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

func (s *DPAutoGAN) noised() string {
	if s.NoiseOn == "decoder" {
		return "its decoder alone"
	}
	return "encoder and decoder"
}

func (s *DPAutoGAN) unproven() pipeline.Unproven {
	if s.NoiseOn == "both" {
		return pipeline.Unproven{}
	}
	return pipeline.Unproven{Rule: "W13", Why: "the encoder is trained without noise and carries every row into the decoder's gradients of all others (docs/accounting.md section 2.1)"}
}

// autoencoder and gan are the values from which sampler, clip, noise and event of a
// phase come. scale is the critic's noise multiplier.
func (s *DPAutoGAN) autoencoder(scale float64, p *plan) train.DPSGD {
	weights := p.decoder.Params()
	if s.NoiseOn == "both" {
		weights += p.encoder.Params()
	}
	return s.Autoencoder.DPSGD(s.multiplier(scale), p.autoencoderRate, weights)
}

func (s *DPAutoGAN) gan(scale float64, p *plan) train.DPSGD {
	c := s.GAN.DPSGD(scale, p.ganRate, p.critic.Params())
	c.Joined = 2 // pairs
	return c
}

// multiplier is the autoencoder's.
func (s *DPAutoGAN) multiplier(scale float64) float64 {
	return ratio(scale, s.Autoencoder.NoiseMultiplier, s.GAN.NoiseMultiplier, s.NoiseRatio)
}

// ratio is the first phase's noise multiplier where the second has scale: where both are
// given, in their ratio, else in that of noise_ratio.
func ratio(scale, first, second, noise float64) float64 {
	switch {
	case second == 0:
		return noise * scale
	case scale == second:
		return first
	}
	return scale / second * first
}
