package latent

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
	"weir/stages/model/internal/training"
	"weir/train"
)

// DPVAE is the variational autoencoder (Kingma, Welling 2014) trained by DP-SGD: the
// learner of Acs, Melis, Castelluccia, De Cristofaro 2017 on the whole table, and the
// baseline DP-VAE of Tantipongpipat et al. 2021.
//
// Input: an encoded private table of stability rows(c). Mechanism: steps noisy
// sums of per-example gradients of the evidence bound on Poisson samples of rows,
// encoder and decoder clipped together to max_grad_norm and both noised. The normal
// numbers that codes are drawn with come from the paid secret stream, since which row
// they fall to depends on the rows. Sensitivity: max_grad_norm for one row (twice that
// under replace_one, applied by the accountant; c times for c rows). Adjacency: of the
// spec. Guarantee: as for repeated(steps, poisson_sampled(gaussian)) for all
// iterates of both nets (Abadi et al. 2016; docs/accounting.md section 2.1, option
// (a)). The decoder alone is released; rows are drawn from standard normal codes.
type DPVAE struct {
	Coder    `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier remove_anomalies encoder decoder activation latent_dim learning_rate average checkpoint_every"`
	KLWeight float64 `yaml:"kl_weight" json:"kl_weight" min:"0" doc:"Weight of the divergence of codes from the standard normal, beside a loss that is summed over columns; 1 is the evidence bound."`
}

func dpVAEKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_vae", Version: 2,
		Doc: "Variational autoencoder by DP-SGD. Trains a variational autoencoder by DP-SGD on encoder and decoder " +
			"together and releases the decoder, which " +
			"turns standard normal codes into rows. " +
			"Each column has the loss of its encoding: cross entropy for a one-hot group, binary cross entropy for numbers " +
			"scaled to [0,1], squared error for others. " +
			"Use it after encode; numbers cut into declared bins (discretize, then one_hot) keep their spread, which numbers " +
			"scaled by min_max lose. Needs an encoded table of stability rows(c).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."},
			training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The decoder."}},
		Readers: training.Readers(),
		New: func() pipeline.Stage {
			return &DPVAE{KLWeight: 1, Coder: Coder{Settings: training.Settings{
				Encoder: []int{32}, Decoder: []int{32},
				Sampling:   training.Sampling{Steps: 2000, ExpectedBatchSize: 500, MaxGradNorm: 1},
				Activation: "tanh", LatentDim: 8, LearningRate: 5e-3, Average: 0.99, CheckpointEvery: 2000}}}
		},
	}
}

// Plan prices the training.
func (s *DPVAE) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	rate := s.Rate(h, &ps)
	s.CheckRemoval(in, &ps, training.Batch{Setting: "expected_batch_size", Rows: s.ExpectedBatchSize})
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	nets, err := s.nets(h.Domain, 2*s.LatentDim, 1)
	if err != nil {
		return pipeline.Work{}, err
	}
	weights := nets.encoder.Params() + nets.decoder.Params()
	if err := training.InReach(s.DPSGD(1, rate, weights)); err != nil {
		return pipeline.Work{}, err
	}
	out := training.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{{Name: training.Spend, Doc: fmt.Sprintf("DP-SGD on encoder and decoder, sampling rate %.4g",
			rate),
			Mechanism: func(scale float64) privacy.Mechanism { return s.DPSGD(scale, rate, weights) }}},
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: publishedVAE(rate, int64(s.Steps)),
			Unproven: s.UnprovenBeside(in, pipeline.Unproven{})},
		Findings: s.Findings("expected_batch_size", h),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			trained, err := s.train(ctx, env, in, nets)
			if err != nil {
				return nil, err
			}
			model, err := training.Release(out, "dp_vae", training.Part{Share: 1, Net: nets.released, Weights: trained})
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// train returns the decoder's weights; the encoder stays here.
func (s *DPVAE) train(ctx context.Context, env *pipeline.Env, in pipeline.Tables, n coders) ([]float32, error) {
	l, err := training.Begin(ctx, env, in["in"], 0, s.CheckpointEvery, s.LeftOut(env, in))
	if err != nil {
		return nil, err
	}
	criterion, err := heads(in["in"].Domain, -1)
	if err != nil {
		return nil, err
	}
	o, err := train.NewVariational(n.encoder, n.decoder, l.Rows, criterion, s.KLWeight)
	if err != nil {
		return nil, err
	}
	random := env.Rand("weights")
	start := append(n.encoder.Init(random), n.decoder.Init(random)...)
	w, err := train.Fit(ctx, s.config(l.Worst), o, start, l.Rows.Len(), l.Paid, l.Hooks)
	if err != nil {
		return nil, err
	}
	return w[n.encoder.Params():], nil
}
