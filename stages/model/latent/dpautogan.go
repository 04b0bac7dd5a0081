package latent

import (
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/published"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

const dpAutoGAN = "dp_auto_gan"

// DPAutoGAN is DP-auto-GAN (Tantipongpipat, Waites, Boob, Siva, Cummings 2021): an
// autoencoder, and then a Wasserstein GAN whose generator makes codes that the frozen
// decoder turns into rows.
//
// Input: an encoded private table of stability rows(c). Mechanisms: two runs of DP-SGD
// on Poisson samples, one after the other. The first sums the gradients of encoder and
// decoder together, clipped as one vector to autoencoder.max_grad_norm; the second
// the weights of a critic on pairs of a real and a generated row, clipped as one to
// gan.max_grad_norm. Sensitivity: the clip, for one row (twice that under
// replace_one, applied by the accountant; c times for c rows). Adjacency: of the spec.
// Guarantee: the composition of both events, for all iterates of all nets, since the
// generator, clamped weights and averages are post-processing (Abadi et al. 2016;
// docs/accounting.md sections 2 and 4).
//
// With noise_on decoder the encoder learns without noise, as in the published program
// and the paper's appendix. That has no guarantee (docs/accounting.md section 2.1, W13).
type DPAutoGAN struct {
	Autoencoder       Autoencoder `yaml:"autoencoder" json:"autoencoder" doc:"First phase."`
	GAN               GAN         `yaml:"gan" json:"gan" doc:"Second phase, with the decoder frozen."`
	training.Settings `yaml:",inline" keys:"remove_anomalies noise_ratio noise_on checkpoint_every"`
	NoiseOn           string `yaml:"noise_on" json:"noise_on" enum:"both|decoder" doc:"Which half of the autoencoder is clipped and noised. decoder is the published program, without a proof (claims: published)."`
}

func dpAutoGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: dpAutoGAN, Version: 3,
		Doc: "Wasserstein GAN in the code space of an autoencoder (DP-auto-GAN). Trains an autoencoder and, in its code " +
			"space, a Wasserstein GAN, both by DP-SGD, and releases generator and " +
			"decoder as one (DP-auto-GAN, Tantipongpipat et al. 2021). " +
			"Batches are Poisson samples and one clip covers all weights of an example, encoder and decoder together, so that " +
			"the bill is proven. " +
			"Use it after encode, for tables of categories and numbers, which come out far nearer cut into declared bins than " +
			"scaled, or of many binary columns. Needs an encoded table of stability rows(c).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."},
			training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "Generator and decoder in one."}},
		Readers: training.Readers(),
		New: func() pipeline.Stage {
			return &DPAutoGAN{
				Autoencoder: Autoencoder{Hidden: []int{64}, Code: 16, Heads: "columns", Loss: "sum", Settings: training.Settings{
					Sampling:   training.Sampling{Steps: 1000, ExpectedBatchSize: 1000, MaxGradNorm: 0.5},
					Activation: "leaky_relu", LearningRate: 0.003}},
				GAN: GAN{Norm: "none", Residual: true, Settings: training.Settings{
					Sampling:    training.Sampling{Steps: 4000, ExpectedBatchSize: 1000, MaxGradNorm: 0.05},
					CriticSteps: 5, Optimiser: "rmsprop", LearningRate: 1e-3, GeneratorRate: 5e-4, WeightClip: 0.05,
					GeneratedBatch: 128, Average: 0.995, LatentDim: 32, Generator: []int{64}, Critic: []int{24}}},
				NoiseOn: "both", Settings: training.Settings{NoiseRatio: 0.6, CheckpointEvery: 2000}}
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
	out := training.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{
			{Name: spendAutoencoder, Doc: fmt.Sprintf("DP-SGD on the autoencoder, noise on %s, sampling rate %.4g", s.noised(),
				plan.autoencoderRate),
				Mechanism: func(scale float64) privacy.Mechanism { return s.autoencoder(scale, plan) }},
			{Name: spendGAN, Doc: fmt.Sprintf("DP-SGD on the critic, sampling rate %.4g", plan.ganRate),
				Mechanism: func(scale float64) privacy.Mechanism { return s.gan(scale, plan) }},
		},
		Pricing: pipeline.Pricing{Scale: s.GAN.NoiseMultiplier, Published: s.published(plan), Unproven: s.UnprovenBeside(in,
			s.unproven())},
		Findings: append(s.Autoencoder.Findings("autoencoder.expected_batch_size", h),
			s.GAN.Findings("gan.expected_batch_size", h)...),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			trained, err := s.train(ctx, env, in, plan)
			if err != nil {
				return nil, err
			}
			model, err := training.Release(out, dpAutoGAN, training.Part{Share: 1, Net: plan.chain, Weights: trained})
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
	return pipeline.Unproven{Rule: "W13", Why: "the encoder is trained without noise and carries every row into the " +
		"decoder's gradients of all others (docs/accounting.md section 2.1)"}
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

// multiplier returns the autoencoder's.
func (s *DPAutoGAN) multiplier(scale float64) float64 {
	return ratio(scale, s.Autoencoder.NoiseMultiplier, s.GAN.NoiseMultiplier, s.NoiseRatio)
}

// ratio returns the first phase's noise multiplier where the second has scale: where both are
// given, in their ratio, else in the ratio of noise_ratio.
func ratio(scale, first, second, noise float64) float64 {
	switch {
	case second == 0:
		return noise * scale
	case scale == second:
		return first
	}
	return scale / second * first
}

// Autoencoder is the first phase of dp_auto_gan.
type Autoencoder struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier hidden code activation heads loss learning_rate encoder_rate average" doc.activation:"After each layer of the encoder and each hidden one of the decoder, and after the generator's last; leaky_relu has slope 0.2." doc.learning_rate:"Learning rate of Adam (betas 0.9, 0.999)." doc.average:"Decay of the running average of the weights, which is what the second phase starts from; 0 takes the last weights."`
	Hidden            []int   `yaml:"hidden" json:"hidden" min:"1" doc:"Units of the encoder's hidden layers; the decoder has them in reverse."`
	Code              int     `yaml:"code" json:"code" min:"1" doc:"Dimension of the code, which the generator makes."`
	Heads             string  `yaml:"heads" json:"heads" enum:"sigmoid|columns" doc:"What the decoder ends in: a sigmoid for every encoded column, as published, or what suits each, such as a softmax over a one-hot group."`
	Loss              string  `yaml:"loss" json:"loss" enum:"mean|sum" doc:"Cross entropy of a row, over the encoded columns."`
	EncoderRate       float64 `yaml:"encoder_rate,omitempty" json:"encoder_rate,omitempty" exclusiveMin:"0" doc:"With noise_on decoder: learning rate of the encoder, whose gradient is the plain sum of a batch; learning_rate over expected_batch_size by default."`
}

// GAN is the second phase of dp_auto_gan.
type GAN struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier critic_steps optimiser learning_rate generator_rate weight_clip generated_batch average latent_dim generator norm residual critic" enum.optimiser:"rmsprop|adam" doc.optimiser:"Optimiser of critic and generator; rmsprop has alpha 0.99, adam betas 0.5 and 0.9." min.generated_batch:"2" doc.generated_batch:"Generated rows of a step: real rows are paired with them at random." doc.generator:"Units of the generator's hidden layers, of slope 0.2 below zero." doc.critic:"Units of the critic's hidden layers, of slope 0.2 below zero."`
	Norm              string `yaml:"norm" json:"norm" enum:"batch_norm|layer_norm|none" doc:"What each layer of the generator is normalised by."`
	Residual          bool   `yaml:"residual" json:"residual" doc:"Adds a hidden layer of the generator to its input where both are as wide."`
}

func (a Autoencoder) optimiser() train.Optimiser { return train.Adam(a.LearningRate, 0.9, 0.999) }

// encoderOptimiser returns the optimiser of an encoder without noise, on the sum of a batch.
func (a Autoencoder) encoderOptimiser() train.Optimiser {
	rate := a.EncoderRate
	if rate == 0 {
		rate = a.LearningRate / a.ExpectedBatchSize
	}
	return train.Adam(rate, 0.9, 0.999)
}

func (g GAN) optimiser(rate float64) train.Optimiser {
	if g.Optimiser == "adam" {
		return train.Adam(rate, 0.5, 0.9)
	}
	return train.RMSProp(rate)
}

func (g GAN) config(frozen int, seed uint64) train.WGANConfig {
	rate := g.GeneratorRate
	if rate == 0 {
		rate = g.LearningRate
	}
	return train.WGANConfig{CriticSteps: g.CriticSteps, GeneratorSteps: 1, WeightClip: g.WeightClip,
		GeneratorBatch: g.GeneratedBatch,
		Paired:         true, Frozen: frozen, Critic: g.optimiser(g.LearningRate), Generator: g.optimiser(rate),
		Average: g.Average,
		Seed:    seed}
}

func (a Autoencoder) layers(units []int) training.Hidden {
	return training.Hidden{Units: units, Activation: a.Activation, Slope: a.slope()}
}

// slope counts for leaky_relu only.
func (a Autoencoder) slope() float64 {
	if a.Activation == "leaky_relu" {
		return leak
	}
	return 0
}

func (g GAN) norm() string {
	if g.Norm == "none" {
		return ""
	}
	return g.Norm
}

// plan is what follows from settings and public facts.
type plan struct {
	autoencoderRate, ganRate float64
	encoder, decoder         *net.Net // the decoder ends before its heads
	critic                   *net.Net
	chain                    *net.Net // generator, decoder and heads
	heads                    []net.Block
}

func (s *DPAutoGAN) plan(in pipeline.Headers) (*plan, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	p := &plan{}
	within(&ps, "autoencoder", func(ps *schema.Problems) { p.autoencoderRate = s.Autoencoder.Rate(h, ps) })
	within(&ps, "gan", func(ps *schema.Problems) { p.ganRate = s.GAN.Rate(h, ps) })
	s.CheckRemoval(in, &ps, batchesOf(s.Autoencoder.Sampling, s.GAN.Sampling, s.GAN.GeneratedBatch)...)
	if len(ps) == 0 {
		s.judge(h.Domain, &ps)
	}
	if err := ps.Err(); err != nil {
		return nil, err
	}
	if err := p.build(s, h.Domain); err != nil {
		return nil, err
	}
	within(&ps, "autoencoder", func(ps *schema.Problems) { reach(ps, s.autoencoder(1, p)) })
	within(&ps, "gan", func(ps *schema.Problems) { reach(ps, s.gan(1, p)) })
	return p, ps.Err()
}

// batchesOf returns the batches of two phases.
func batchesOf(autoencoder, gan training.Sampling, generated int) []training.Batch {
	return []training.Batch{{Setting: "autoencoder.expected_batch_size", Rows: autoencoder.ExpectedBatchSize},
		{Setting: "gan.expected_batch_size", Rows: gan.ExpectedBatchSize}, {Setting: "gan.generated_batch",
			Rows: float64(generated)}}
}

// within gives the problems of a phase its path.
func within(ps *schema.Problems, phase string, judge func(ps *schema.Problems)) {
	var own schema.Problems
	judge(&own)
	for _, p := range own {
		if p.Path != "from" && p.Path != "" {
			p.Path = phase + "." + p.Path
		}
		*ps = append(*ps, p)
	}
}

func reach(ps *schema.Problems, c train.DPSGD) {
	if err, ok := training.InReach(c).(schema.Problems); ok {
		*ps = append(*ps, err...)
	}
}

// judgePhases finds what cannot work of an autoencoder and a GAN, one after the other.
func judgePhases(a, g training.Sampling, criticSteps int, ps *schema.Problems) {
	if (a.NoiseMultiplier == 0) != (g.NoiseMultiplier == 0) {
		ps.Add("noise_multiplier", "given for one of autoencoder and gan",
			"given for both, or for none: then noise_ratio says how they compare")
	}
	if g.Steps < criticSteps {
		ps.Add("gan.steps", fmt.Sprintf("%d, so that the generator is never trained", g.Steps),
			fmt.Sprintf("at least gan.critic_steps, %d", criticSteps))
	}
}

// judge finds, from settings and domain alone, what cannot work.
func (s *DPAutoGAN) judge(d *domain.Domain, ps *schema.Problems) {
	a, g := s.Autoencoder, s.GAN
	judgePhases(a.Sampling, g.Sampling, g.CriticSteps, ps)
	if a.EncoderRate != 0 && s.NoiseOn == "both" {
		ps.Add("autoencoder.encoder_rate", "given with noise_on both", "absent: then one optimiser moves encoder and decoder")
	}
	if a.Heads == "sigmoid" {
		for _, c := range d.Columns {
			if e := c.Encoding; e.Form == domain.Standard || e.Form == domain.MinMax && e.Range != [2]float64{0, 1} {
				ps.Add("autoencoder.heads", "sigmoid, and the column "+c.Name+" is encoded beyond [0, 1]",
					"columns; or encode every number by min_max with range [0, 1]")
				break
			}
		}
	}
	s.fits(d, ps)
}

// fits judges what a training would hold.
func (s *DPAutoGAN) fits(d *domain.Domain, ps *schema.Problems) {
	a, g, width := s.Autoencoder, s.GAN, training.Width(d)
	training.Shallow(ps, "autoencoder.hidden", a.Hidden)
	training.Shallow(ps, "gan.generator", g.Generator)
	training.Shallow(ps, "gan.critic", g.Critic)
	half := training.Widths(width, a.Hidden, a.Code)
	gen := training.Widths(1, g.Generator, a.Code)
	critic := training.Widths(width, g.Critic, 1)
	batch := float64(training.PassCopies * float64(g.GeneratedBatch))
	training.Fits(ps,
		training.Costs("autoencoder.hidden", fmt.Sprint(a.Hidden), 3*training.NetCopies*training.Weights(half...)),
		training.Costs("gan.generator", fmt.Sprint(g.Generator), training.NetCopies*training.Weights(gen...)),
		training.Costs("gan.latent_dim", fmt.Sprint(g.LatentDim),
			float64(g.LatentDim)*(float64(training.NetCopies*float64(gen[1]))+batch)),
		training.Costs("gan.critic", fmt.Sprint(g.Critic), training.NetCopies*training.Weights(critic...)),
		training.Costs("gan.generated_batch", fmt.Sprint(g.GeneratedBatch),
			batch*(training.Units(half...)+training.Units(gen...)+training.Units(critic...))))
}

func (p *plan) build(s *DPAutoGAN, d *domain.Domain) (err error) {
	a, g, width := s.Autoencoder, s.GAN, training.Width(d)
	p.heads = []net.Block{{Activation: "sigmoid", Width: width}}
	if a.Heads == "columns" {
		p.heads = training.Outputs(d).Blocks
	}
	if p.encoder, err = net.New(net.Spec{Inputs: width, Layers: a.layers(slices.Concat(a.Hidden, []int{a.Code})).Layers(
		width)}); err != nil {
		return err
	}
	back := slices.Clone(a.Hidden)
	slices.Reverse(back)
	if p.decoder, err = net.New(net.Spec{Inputs: a.Code, Layers: append(a.layers(back).Layers(a.Code),
		net.Dense(width))}); err != nil {
		return err
	}
	hidden := training.Leaky(leak, g.Generator)
	hidden.Norm, hidden.Residual = g.norm(), g.Residual
	last := a.layers([]int{a.Code})
	last.Norm = g.norm()
	layers := append(hidden.Layers(g.LatentDim), last.Layers(widest(g.Generator, g.LatentDim))...)
	layers = append(layers, p.decoder.Spec().Layers...)
	if p.chain, err = net.New(net.Spec{Inputs: g.LatentDim, Layers: append(layers, net.Blocks(p.heads...))}); err != nil {
		return err
	}
	p.critic, err = training.Critic(training.Leaky(leak, g.Critic), d)
	return err
}

// widest returns the width that the last layer of a generator starts from.
func widest(hidden []int, latent int) int {
	if len(hidden) == 0 {
		return latent
	}
	return hidden[len(hidden)-1]
}

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
	_, trained, err := train.WGAN(ctx, c, p.critic, p.chain, p.critic.Init(random), code, l.Rows, l.Paid[1],
		l.Hooks(1, learned))
	return trained, err
}

// encode trains the autoencoder and returns the weights of encoder and decoder.
func (s *DPAutoGAN) encode(ctx context.Context, p *plan, start []float32, rows *train.Rows, worst *train.Worst,
	paid *privacy.Handle, h train.Hooks) ([]float32, error) {
	a := s.Autoencoder
	criterion, err := p.criterion(a)
	if err != nil {
		return nil, err
	}
	c := train.FitConfig{Optimiser: a.optimiser(), Average: a.Average, Worst: worst}
	if s.NoiseOn == "decoder" {
		o := &train.NoiselessEncoder{Encoder: p.encoder, Decoder: p.decoder, X: rows, Criterion: criterion,
			Optimiser: a.encoderOptimiser()}
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

// published returns what the paper prints for these settings: Renyi divergences of both
// phases added, the classic conversion, add_remove. It is a valid bound for noise on both halves, under
// that adjacency; for noise on the decoder alone it bounds nothing.
func (s *DPAutoGAN) published(p *plan) *pipeline.Published {
	return &pipeline.Published{
		Method: "DP-auto-GAN, Tantipongpipat et al. 2021: Renyi divergences of both phases added, classic conversion, " +
			"add_remove",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPAutoGAN(delta,
				published.Phase{SamplingRate: p.autoencoderRate, NoiseMultiplier: s.multiplier(multiplier),
					Steps: int64(s.Autoencoder.Steps)},
				published.Phase{SamplingRate: p.ganRate, NoiseMultiplier: multiplier, Steps: int64(s.GAN.Steps)})
		},
	}
}
