package latent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

const rdpCGAN = "rdp_cgan"

// RDPCGAN is RDP-CGAN (Torfi, Fox, Reddy 2022) as the GANAD thesis runs it: a convolutional
// autoencoder of all rows, and then for each label a convolutional Wasserstein GAN whose
// generator makes codes that the shared decoder turns into rows.
//
// Input: an encoded private table of stability rows(c), one of whose columns is the label,
// which nets see as zeros. Mechanisms, one after the other:
//
//  1. with labels private, the noisy sizes of labels (training.LabelSetting), whose label_share is reckoned
//     beside phase 3 alone: of the whole stage it is a little less.
//  2. DP-SGD on Poisson samples of all rows: gradients of encoder and decoder together,
//     clipped as one vector to autoencoder.max_grad_norm. (The thesis charges nothing for it.)
//  3. DP-SGD on Poisson samples of all rows: gradients in the weights of the critics of
//     all labels (train.LabelGAN), a row's in the weights of its own label, clipped as one vector to
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
	Autoencoder       ConvolvedAutoencoder `yaml:"autoencoder" json:"autoencoder" doc:"First phase, for the rows of all labels."`
	GAN               ConvolvedGAN         `yaml:"gan" json:"gan" doc:"Second phase, for each label, with the decoder frozen."`
	training.Settings `yaml:",inline" keys:"label labels label_share autoencoder gan remove_anomalies noise_ratio checkpoint_every"`
}

func rdpCGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: rdpCGAN, Version: 2,
		Doc: "Autoencoder, and a GAN for each label in its code space (RDP-CGAN). Trains a convolutional autoencoder for " +
			"all rows and, in its code space, a convolutional Wasserstein GAN for " +
			"each label, all by DP-SGD, and releases generators and decoder as one (RDP-CGAN, Torfi et al. 2022, a GAN a " +
			"label). " +
			"Labels are private: all critics learn in the same steps, a row in that of its own label. " +
			"Use it after encode, with numbers cut into declared bins, to compare with the paper, or with wide rows whose " +
			"neighbouring columns belong together, such as samples of a signal; of other tables dp_gan learned more. Needs an " +
			"encoded table of stability rows(c).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."},
			training.DetectorPort()},
		Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel,
			Doc: "A generator with its decoder for each label."}},
		Readers: training.Readers(),
		New: func() pipeline.Stage {
			return &RDPCGAN{
				Autoencoder: ConvolvedAutoencoder{Code: 16, Norm: "none", CodeActivation: "tanh", Loss: "likelihood",
					Settings: training.Settings{Sampling: training.Sampling{Steps: 1000, ExpectedBatchSize: 500, MaxGradNorm: 0.5},
						LearningRate: 0.003}},
				GAN: ConvolvedGAN{GeneratorNorm: "batch_norm", CriticNorm: "none", Settings: training.Settings{
					Sampling:    training.Sampling{Steps: 2000, ExpectedBatchSize: 500, MaxGradNorm: 0.25},
					CriticSteps: 5, LearningRate: 1e-3, GeneratorRate: 5e-4, WeightClip: 0.05, GeneratedBatch: 128, Average: 0.99,
					LatentDim: 32}},
				Settings: training.Settings{LabelSetting: training.LabelSetting{Labels: "private", LabelShare: 0.02},
					NoiseRatio: 0.6, CheckpointEvery: 1000}}
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
	out := training.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: append(s.LabelSpends(s.GAN.Sampling, l.ganRate, l.labels),
			pipeline.Spend{Name: spendAutoencoder, Doc: fmt.Sprintf("DP-SGD on encoder and decoder, sampling rate %.4g",
				l.autoencoderRate),
				Mechanism: func(scale float64) privacy.Mechanism { return l.autoencoder(scale) }},
			pipeline.Spend{Name: spendGAN, Doc: fmt.Sprintf("DP-SGD on the critics of %d labels, sampling rate %.4g", l.labels,
				l.ganRate),
				Mechanism: func(scale float64) privacy.Mechanism { return l.gan(scale) }}),
		Pricing: pipeline.Pricing{Scale: s.GAN.NoiseMultiplier, Published: publishedRDPCGAN(l.ganRate, int64(s.GAN.Steps)),
			Unproven: s.UnprovenBeside(in, s.UnprovenLabels())},
		Findings: append(s.Autoencoder.Findings("autoencoder.expected_batch_size", h),
			s.GAN.Findings("gan.expected_batch_size", h)...),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			parts, err := l.train(ctx, env, in)
			if err != nil {
				return nil, err
			}
			model, err := training.Release(out, rdpCGAN, parts...)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

func (s *RDPCGAN) plan(in pipeline.Headers) (*convolved, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	l := &convolved{RDPCGAN: s, column: training.LabelColumn(h.Domain, s.Label, &ps)}
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

// ConvolvedAutoencoder is the first phase of rdp_cgan.
type ConvolvedAutoencoder struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier code encoder decoder norm code_activation loss learning_rate average" doc.learning_rate:"Learning rate of Adam (betas 0.9, 0.999)." doc.average:"Decay of the running average of the weights, which is what the second phase starts from; 0 takes the last weights."`
	Code              int           `yaml:"code" json:"code" min:"1" max:"65536" doc:"Numbers of a code, which the generators make."`
	Encoder           []Convolution `yaml:"encoder,omitempty" json:"encoder,omitempty" maxItems:"64" doc:"Convolutions from a row, a position a column, to a code; by default they follow from the encoded width. A dense layer follows where they do not end in code numbers."`
	Decoder           []Convolution `yaml:"decoder,omitempty" json:"decoder,omitempty" maxItems:"64" doc:"Transposed convolutions from a code, a channel a number, to a row, where again a dense layer follows if they do not end in its width; by default the way of the encoder's default back, for fewer than 64 columns one layer and a dense one."`
	Norm              string        `yaml:"norm" json:"norm" enum:"instance_norm|layer_norm|none" doc:"What layers are normalised by, but for the encoder's first and the last of both: instance_norm over the positions of each channel, as batch norm is with one row a batch; layer_norm over a row."`
	CodeActivation    string        `yaml:"code_activation" json:"code_activation" enum:"relu|tanh|leaky_relu" doc:"Activation of a code, as encoder and generators put it out; leaky_relu has slope 0.2."`
	Loss              string        `yaml:"loss" json:"loss" enum:"likelihood|squares" doc:"Of a row, a sum over its columns: what suits each, such as cross entropy over a one-hot group, or squared errors of what the decoder puts out."`
}

// ConvolvedGAN is the second phase of rdp_cgan.
type ConvolvedGAN struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier critic_steps learning_rate generator_rate weight_clip generated_batch average latent_dim generator generator_norm critic critic_norm" doc.learning_rate:"Learning rate of the critics, by Adam (betas 0.9, 0.999)." min.generated_batch:"2" doc.generated_batch:"Generated rows of a label and step." max.latent_dim:"65536"`
	Generator         []Convolution `yaml:"generator,omitempty" json:"generator,omitempty" maxItems:"64" doc:"Transposed convolutions from that vector, a channel a number, to a code; by default they follow from its length. A dense layer follows where they do not end in one."`
	GeneratorNorm     string        `yaml:"generator_norm" json:"generator_norm" enum:"batch_norm|instance_norm|layer_norm|none" doc:"What the generators' layers but the last are normalised by. Generated rows are public, so that batch_norm may mix them."`
	Critic            []Convolution `yaml:"critic,omitempty" json:"critic,omitempty" maxItems:"64" doc:"Convolutions from a row to its score; by default one over all columns of up to 128, stacked ones of more. A dense layer follows where they do not end in one number."`
	CriticNorm        string        `yaml:"critic_norm" json:"critic_norm" enum:"instance_norm|layer_norm|none" doc:"What the critics' layers but the first and the last are normalised by."`
}

func (g ConvolvedGAN) config(labels, frozen int, shares []float64, seed uint64) train.LabelGANConfig {
	rate := g.GeneratorRate
	if rate == 0 {
		rate = g.LearningRate
	}
	return train.LabelGANConfig{Labels: labels, Shares: shares, Loss: "wasserstein", CriticSteps: g.CriticSteps,
		GeneratorSteps: 1, WeightClip: g.WeightClip,
		GeneratorBatch: g.GeneratedBatch, Frozen: frozen, Critic: train.Adam(g.LearningRate, 0.9, 0.999),
		Generator: train.Adam(rate, 0.9, 0.999),
		Average:   g.Average, Seed: seed}
}

// convolved is a training of rdp_cgan that is planned.
type convolved struct {
	*RDPCGAN
	column, labels           int
	autoencoderRate, ganRate float64
	auto                     *net.Net // encoder and decoder, which learn
	criterion                train.Criterion
	decoder                  int      // weights of the decoder, which are the last of auto and of chain
	chain                    *net.Net // generator, decoder and heads, with zeros in the label
	critic                   *net.Net
	units                    [2]float64 // of auto; of chain and critic
}

// writtenChunk is how many rows of each label a loop works on at once where gradients are
// written out.
const writtenChunk = 16

// build makes the nets of rows of d. What does not fit is a problem of its setting.
func (l *convolved) build(d *domain.Domain, ps *schema.Problems) error {
	a, g, width := l.Autoencoder, l.GAN, training.Width(d)
	up, down := &stack{positions: width, channels: 1}, &stack{positions: 1, channels: a.Code}
	generate, judge := &stack{positions: 1, channels: g.LatentDim}, &stack{positions: width, channels: 1}
	code := net.Activation(a.CodeActivation)
	if a.CodeActivation == "leaky_relu" {
		code = net.LeakyReLU(leak)
	}
	encoder := up.build(or(a.Encoder, narrowing(width, a.Code)), form{setting: "autoencoder.encoder", norm: a.Norm,
		last: code, outputs: a.Code}, ps)
	decoder := down.build(or(a.Decoder, widening(width)), form{setting: "autoencoder.decoder", transpose: true,
		norm: a.Norm, outputs: width}, ps)
	first := generate.build(or(g.Generator, doubling(a.Code)), form{setting: "gan.generator", transpose: true,
		norm: g.GeneratorNorm, last: code, outputs: a.Code}, ps)
	score := judge.build(or(g.Critic, judging(width)), form{setting: "gan.critic", norm: g.CriticNorm, outputs: 1}, ps)
	if len(*ps) > 0 {
		return nil
	}
	if err := l.join(d, encoder, decoder, first, score); err != nil {
		return err
	}
	if err := training.Drawable(l.chain, d); err != nil {
		ps.Add("gan.generator", "too large for a model that can be read back: "+err.Error(),
			"smaller, as autoencoder.decoder")
	}
	l.units = [2]float64{up.units + down.units, generate.units + down.units + judge.units}
	return nil
}

func or(given, derived []Convolution) []Convolution {
	if len(given) > 0 {
		return given
	}
	return derived
}

// join makes nets of layers.
func (l *convolved) join(d *domain.Domain, encoder, decoder, first, score []net.Layer) (err error) {
	width := training.Width(d)
	if l.critic, err = net.New(net.Spec{Inputs: width, Layers: score}); err != nil {
		return err
	}
	released, err := net.New(net.Spec{Inputs: l.GAN.LatentDim, Layers: slices.Concat(first, decoder,
		[]net.Layer{training.Outputs(d)})})
	if err != nil {
		return err
	}
	if l.chain, err = training.WithoutLabel(released, d, l.column); err != nil {
		return err
	}
	ends := l.chain.Spec().Layers
	learns := slices.Concat(encoder, decoder)
	if l.Autoencoder.Loss == "squares" {
		learns = append(learns, ends[len(ends)-1])
	}
	if l.auto, err = net.New(net.Spec{Inputs: width, Layers: learns}); err != nil {
		return err
	}
	half, err := net.New(net.Spec{Inputs: width, Layers: encoder})
	if err != nil {
		return err
	}
	l.decoder = l.auto.Params() - half.Params()
	l.criterion, err = l.loss(d)
	return err
}

// loss compares what the autoencoder puts out with a row, but for its label.
func (l *convolved) loss(d *domain.Domain) (train.Criterion, error) {
	if l.Autoencoder.Loss == "likelihood" {
		return heads(d, l.column)
	}
	h, err := net.NewHeads([]net.Block{{Activation: "linear", Width: training.Width(d)}}, -1)
	return h.Loss, err
}

// fits judges what a training holds: weights a copy for each label, activations a number for
// each unit and row.
func (l *convolved) fits(ps *schema.Problems) {
	g, weights := l.GAN, func(n *net.Net, copies int) float64 {
		return float64(training.NetCopies * float64(copies) * float64(n.Params()))
	}
	training.Fits(ps,
		training.Costs("autoencoder.encoder", fmt.Sprintf("%d weights", l.auto.Params()),
			weights(l.auto, 1)+float64(training.PassCopies*chunk*l.units[0])),
		training.Costs("gan.generator", fmt.Sprintf("%d weights for each of %d labels", l.chain.Params(), l.labels),
			weights(l.chain, l.labels)),
		training.Costs("gan.critic", fmt.Sprintf("%d weights for each of %d labels", l.critic.Params(), l.labels),
			weights(l.critic, l.labels)),
		training.Costs("gan.generated_batch", fmt.Sprint(g.GeneratedBatch),
			float64(training.PassCopies*(float64(g.GeneratedBatch)+float64(writtenChunk*l.labels))*l.units[1])))
}

// train returns the part of each label; encoder and critics stay here.
func (l *convolved) train(ctx context.Context, env *pipeline.Env, in pipeline.Tables) ([]training.Part, error) {
	table, err := columns.ReadEncoded(ctx, in["in"])
	if err != nil {
		return nil, err
	}
	group, err := table.Codes(l.column)
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
	shares, err := l.LabelShares(env, group, l.labels)
	if err != nil {
		return nil, err
	}
	p, err := training.BeginPhases(env, rows, l.CheckpointEvery, spendAutoencoder, spendGAN)
	if err != nil {
		return nil, err
	}
	w, err := l.learn(ctx, env, p, group, shares, worst)
	if err != nil {
		return nil, err
	}
	return l.parts(in["in"].Domain, w, shares)
}

// learn runs both phases and returns the weights of all generators with their decoders.
func (l *convolved) learn(ctx context.Context, env *pipeline.Env, p *training.Phases, group []int32, shares []float64,
	worst *train.Worst) ([]float32, error) {
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
	c := l.GAN.config(l.labels, l.decoder, training.SharesInTraining(shares), env.Rand("training").Uint64())
	c.Worst = worst
	return train.LabelGAN(ctx, c, l.critic, l.chain, critics, generators, p.Rows, group, p.Paid[1], p.Hooks(1, decoder))
}

func (l *convolved) encode(ctx context.Context, start []float32, rows *train.Rows, worst *train.Worst,
	paid *privacy.Handle, h train.Hooks) ([]float32, error) {
	o, err := train.Autoencoder(l.auto, rows, l.criterion)
	if err != nil {
		return nil, err
	}
	a := l.Autoencoder
	return train.Fit(ctx, train.FitConfig{Optimiser: train.Adam(a.LearningRate, 0.9, 0.999), Average: a.Average,
		Worst: worst}, o, start, rows.Len(), paid, h)
}

// parts returns a generator with the decoder for each label, which says it.
func (l *convolved) parts(d *domain.Domain, w []float32, shares []float64) ([]training.Part, error) {
	parts, each := make([]training.Part, l.labels), l.chain.Params()
	for label := range parts {
		n, err := training.OfLabel(l.chain, d, l.column, label)
		if err != nil {
			return nil, err
		}
		parts[label] = training.Part{Share: shares[label], Net: n, Weights: w[label*each:][:each]}
	}
	return parts, nil
}
