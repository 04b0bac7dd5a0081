package latent

import (
	"context"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/published"
	"weir/stages/internal/columns"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// train returns the weights of generator and decoder; encoder and critic stay here.
func (s *DPAutoGAN) train(ctx context.Context, env *pipeline.Env, in pipeline.Tables, p *plan) ([]float32, error) {
	table, err := columns.ReadEncoded(ctx, in["in"])
	if err != nil {
		return nil, err
	}
	rows, err := table.Rows()
	if err != nil {
		return nil, err
	}
	worst, err := s.Worst(ctx, env, in, table)
	if err != nil {
		return nil, err
	}
	l, err := training.BeginPhases(env, rows, s.CheckpointEvery, spendAutoencoder, spendGAN)
	if err != nil {
		return nil, err
	}
	random := env.Rand("weights")
	start := append(p.encoder.Init(random), p.decoder.Init(random)...)
	learned, passed := l.Before(1, p.decoder.Params())
	if !passed {
		all, err := s.encode(ctx, p, start, l.Rows, worst, l.Paid[0], l.Hooks(0, nil))
		if err != nil {
			return nil, err
		}
		learned = all[p.encoder.Params():]
	}
	code := p.chain.Init(random)
	copy(code[len(code)-len(learned):], learned)
	c := s.GAN.config(len(learned), env.Rand("training").Uint64())
	c.Worst = worst
	_, trained, err := train.WGAN(ctx, c, p.critic, p.chain, p.critic.Init(random), code, l.Rows, l.Paid[1], l.Hooks(1, learned))
	return trained, err
}

// encode trains the autoencoder and returns the weights of encoder and decoder.
func (s *DPAutoGAN) encode(ctx context.Context, p *plan, start []float32, rows *train.Rows, worst *train.Worst, paid *privacy.Handle, h train.Hooks) ([]float32, error) {
	a := s.Autoencoder
	criterion, err := p.criterion(a)
	if err != nil {
		return nil, err
	}
	c := train.FitConfig{Optimiser: a.optimiser(), Average: a.Average, Worst: worst}
	if s.NoiseOn == "decoder" {
		o := &train.NoiselessEncoder{Encoder: p.encoder, Decoder: p.decoder, X: rows, Criterion: criterion, Optimiser: a.encoderOptimiser()}
		return o.Fit(ctx, c, start, paid, h)
	}
	both := p.encoder.Spec()
	both.Layers = append(append([]net.Layer(nil), both.Layers...), p.decoder.Spec().Layers...)
	n, err := net.New(both)
	if err != nil {
		return nil, err
	}
	o, err := train.Autoencoder(n, rows, criterion)
	if err != nil {
		return nil, err
	}
	return train.Fit(ctx, c, o, start, rows.Len(), paid, h)
}

// criterion compares the inputs of the heads with a row.
func (p *plan) criterion(a Autoencoder) (train.Criterion, error) {
	if a.Heads == "sigmoid" && a.Loss == "mean" {
		return net.BCE, nil
	}
	heads, err := net.NewHeads(p.heads, -1)
	if err != nil || a.Loss == "sum" {
		return heads.Loss, err
	}
	return func(dy, y, target net.Matrix, loss []float64) {
		heads.Loss(dy, y, target, loss)
		for i := range y.Rows {
			row := dy.Row(i)
			for j := range row {
				row[j] /= float32(len(row))
			}
		}
		for i := range loss {
			loss[i] /= float64(y.Cols)
		}
	}, nil
}

// published is what the paper prints for these settings: Renyi divergences of both
// phases added, the classic conversion, add_remove. It is a valid bound for noise on both halves, under
// that adjacency; for noise on the decoder alone it bounds nothing.
func (s *DPAutoGAN) published(p *plan) *pipeline.Published {
	return &pipeline.Published{
		Method: "DP-auto-GAN, Tantipongpipat et al. 2021: Renyi divergences of both phases added, classic conversion, add_remove",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPAutoGAN(delta,
				published.Phase{SamplingRate: p.autoencoderRate, NoiseMultiplier: s.multiplier(multiplier), Steps: int64(s.Autoencoder.Steps)},
				published.Phase{SamplingRate: p.ganRate, NoiseMultiplier: multiplier, Steps: int64(s.GAN.Steps)})
		},
	}
}
