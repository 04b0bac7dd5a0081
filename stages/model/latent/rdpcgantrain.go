package latent

import (
	"context"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/stages/internal/columns"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/labels"
	"weir/stages/model/internal/training"
	"weir/train"
)

// train returns the part of each label; encoder and critics stay here.
func (l *convolved) train(ctx context.Context, env *pipeline.Env, in pipeline.Tables) ([]generator.Part, error) {
	table, err := columns.ReadEncoded(ctx, in["in"])
	if err != nil {
		return nil, err
	}
	of, err := table.Codes(l.column)
	if err != nil {
		return nil, err
	}
	rows, err := table.RowsWithout(l.column)
	if err != nil {
		return nil, err
	}
	worst, err := l.WorstOfLabels(ctx, env, in, table, l.column)
	if err != nil {
		return nil, err
	}
	shares, err := l.Shares(env, of, l.labels)
	if err != nil {
		return nil, err
	}
	p, err := training.BeginPhases(env, rows, l.CheckpointEvery, spendAutoencoder, spendGAN)
	if err != nil {
		return nil, err
	}
	w, err := l.learn(ctx, env, p, of, shares, worst)
	if err != nil {
		return nil, err
	}
	return l.parts(in["in"].Domain, w, shares)
}

// learn runs both phases and returns the weights of all generators with their decoders.
func (l *convolved) learn(ctx context.Context, env *pipeline.Env, p *training.Phases, of []int32, shares []float64, worst *train.Worst) ([]float32, error) {
	random := env.Rand("weights")
	start := l.auto.Init(random)
	decoder, passed := p.Before(1, l.decoder)
	if !passed {
		all, err := l.encode(ctx, start, p.Rows, worst, p.Paid[0], p.Hooks(0, nil))
		if err != nil {
			return nil, err
		}
		decoder = all[len(all)-l.decoder:]
	}
	var critics, generators []float32
	for range l.labels {
		critics, generators = append(critics, l.critic.Init(random)...), append(generators, l.chain.Init(random)...)
		copy(generators[len(generators)-l.decoder:], decoder)
	}
	c := l.GAN.config(l.labels, l.decoder, labels.InTraining(shares), env.Rand("training").Uint64())
	c.Worst = worst
	return train.LabelGAN(ctx, c, l.critic, l.chain, critics, generators, p.Rows, of, p.Paid[1], p.Hooks(1, decoder))
}

func (l *convolved) encode(ctx context.Context, start []float32, rows *train.Rows, worst *train.Worst, paid *privacy.Handle, h train.Hooks) ([]float32, error) {
	o, err := train.Autoencoder(l.auto, rows, l.criterion)
	if err != nil {
		return nil, err
	}
	a := l.Autoencoder
	return train.Fit(ctx, train.FitConfig{Optimiser: train.Adam(a.LearningRate, 0.9, 0.999), Average: a.Average, Worst: worst}, o, start, rows.Len(), paid, h)
}

// parts are a generator with the decoder for each label, which says it.
func (l *convolved) parts(d *domain.Domain, w []float32, shares []float64) ([]generator.Part, error) {
	parts, each := make([]generator.Part, l.labels), l.chain.Params()
	for label := range parts {
		n, err := generator.OfLabel(l.chain, d, l.column, label)
		if err != nil {
			return nil, err
		}
		parts[label] = generator.Part{Share: shares[label], Net: n, Weights: w[label*each:][:each]}
	}
	return parts, nil
}
