package latent

import (
	"context"
	"errors"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// DPSYN is DP-SYN (Abay, Zhou, Kantarcioglu, Thuraisingham, Sweeney 2018): for each
// label an autoencoder by DP-SGD and, on the codes of its rows, a mixture of
// Gaussians by DP-EM (Park et al. 2017); rows are drawn by label, mixture and decoder.
//
// Input: an encoded private table of stability rows(c), one of whose columns is the
// label. Mechanisms, both for all labels at once, since the label of a row is private:
//
//  1. steps noisy sums of per-example gradients over the weights of all autoencoders
//     (train.ByLabel), each row with one coin a step and one clip, max_grad_norm, over
//     all weights. Sensitivity: max_grad_norm for one row, twice that under replace_one,
//     also for a row that changes its label.
//  2. rounds of noisy moments of all labels' codes (em.moments), under one Gaussian
//     filter. Sensitivity: sqrt 3 rows under add_remove, sqrt 6 under replace_one.
//
// Encoders are noised, so codes are a function of a row and of public history, as
// adaptive composition wants. Adjacency: of the spec. Guarantee: as for
// repeated(steps, poisson_sampled(gaussian)) and gaussian together, for all that is
// released: decoders, mixtures and the shares of labels, which are noisy sizes.
//
// The published system takes the label of each row as public: it splits the rows by
// it and releases how many each part has. Labels public does the latter, which has no
// proof (W05); nothing here samples the parts at rates of their own. It also chooses the size of each mixture by the
// codes of its rows, which Mixture.Choice does, without proof (W16).
type DPSYN struct {
	Coder   `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier remove_anomalies label labels encoder decoder activation latent_dim learning_rate average checkpoint_every" doc.label:"One-hot encoded column whose categories have an autoencoder and a mixture each. What is in a label without rows is noise; its share is near 0." enum.labels:"private|public" doc.labels:"private: shares of labels are noisy sizes; public, as published: they are exact, which nothing proves."`
	Mixture Mixture `yaml:"mixture" json:"mixture" doc:"The mixtures of codes."`
}

// Mixture says how codes are learned.
type Mixture struct {
	Components  int     `yaml:"components" json:"components" min:"1" max:"1000" doc:"Gaussians of a label, or the most of them where choice says how many."`
	Choice      string  `yaml:"choice" json:"choice" enum:"given|calinski_harabasz" doc:"given: as many for each label as components says; calinski_harabasz, as published: as many, from 2 to components, as the clusters of its codes at which the index of Calinski and Harabasz is highest. That looks at codes without noise, and nothing pays for it."`
	Rounds      int     `yaml:"rounds" json:"rounds" min:"1" max:"1000" doc:"Noisy moments that are asked for; the first for whole labels, to start from."`
	MaxCodeNorm float64 `yaml:"max_code_norm" json:"max_code_norm" min:"1e-6" max:"1e6" doc:"Bound on the L2 norm of a code, which is between -1 and 1 in each number; a longer one is shortened."`
	Share       float64 `yaml:"share" json:"share" exclusiveMin:"0" exclusiveMax:"1" doc:"Share of the mixtures in the squared privacy loss of the stage; the autoencoders have the rest. 0.5 is half of epsilon each, nearly."`
}

const (
	mixtureSpend = "mixture"
	// floor is the least standard deviation of a component, of max_code_norm.
	floor = 0.01
)

func dpSYNKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_syn", Version: 3,
		Doc: "Autoencoder and mixture of codes for each label. Trains an autoencoder for each label by DP-SGD, learns the " +
			"codes of its rows as a mixture of Gaussians by " +
			"noisy expectation maximisation, and releases decoders and mixtures. " +
			"Labels are private: all autoencoders learn in the same steps, and shares of labels are noisy. " +
			"Use it after encode where one column, such as a target, divides the rows; sample with a condition on it wastes " +
			"few rows. Needs an encoded table of stability rows(c).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."},
			training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The decoders, with the mixture of each."}},
		Readers: training.Readers(),
		New: func() pipeline.Stage {
			return &DPSYN{Coder: Coder{Settings: training.Settings{
				LabelSetting: training.LabelSetting{Labels: "private"}, Encoder: []int{32}, Decoder: []int{32},
				Sampling:   training.Sampling{Steps: 2000, ExpectedBatchSize: 500, MaxGradNorm: 1},
				Activation: "tanh", LatentDim: 6, LearningRate: 5e-3, Average: 0.99, CheckpointEvery: 2000}},
				Mixture: Mixture{Components: 6, Choice: "given", Rounds: 8, MaxCodeNorm: 2, Share: 0.2}}
		},
	}
}

// Plan prices the training.
func (s *DPSYN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	rate := s.Rate(h, &ps)
	label := training.LabelColumn(h.Domain, s.Label, &ps)
	if s.Mixture.Components > 1 && s.Mixture.Rounds < 2 {
		ps.Add("mixture.rounds", "1", "at least 2 for more than one component: the first round tells where components start")
	}
	if s.Mixture.chosen() && s.Mixture.Components < 2 {
		ps.Add("mixture.components", "1", "at least 2 with mixture.choice: "+s.Mixture.Choice)
	}
	s.CheckRemoval(in, &ps, training.Batch{Setting: "expected_batch_size", Rows: s.ExpectedBatchSize})
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	l := &labelled{DPSYN: s, column: label, labels: h.Domain.Columns[label].Encoding.Width, rate: rate}
	if err := l.plan(h.Domain); err != nil {
		return pipeline.Work{}, err
	}
	out := training.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{
			{Name: training.Spend, Doc: fmt.Sprintf("DP-SGD on the autoencoders of %d labels, sampling rate %.4g", l.labels,
				rate),
				Mechanism: func(scale float64) privacy.Mechanism { return s.DPSGD(scale, rate, l.weights()) }},
			{Name: mixtureSpend, Doc: fmt.Sprintf("%d rounds of moments of the codes of %d labels", s.Mixture.Rounds, l.labels),
				Mechanism: func(scale float64) privacy.Mechanism {
					return mechanism.GaussianFilter{NoiseMultiplier: s.mixtureNoise(scale, rate), Adjacency: h.Terms.Adjacency}
				}},
		},
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: publishedSYN(s, rate), Unproven: s.UnprovenBeside(in,
			s.unproven())},
		Findings: s.Findings("expected_batch_size", h),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			parts, err := l.run(ctx, env, in)
			if err != nil {
				return nil, err
			}
			model, err := training.Release(out, "dp_syn", parts...)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// mixtureNoise returns the multiplier of the mixtures at a multiplier of DP-SGD: Mixture.Share is their share
// of the squared privacy loss. Without noise there is none here either. Above 2^24 it stays, out of reach
// of any budget: more could not be drawn.
func (s *DPSYN) mixtureNoise(scale, rate float64) float64 {
	if scale == 0 {
		return 0
	}
	return math.Min(math.Max(s.NoiseBeside(scale, rate, s.Mixture.Share), 0x1p-20), 0x1p24)
}

func (m Mixture) chosen() bool { return m.Choice == "calinski_harabasz" }

// unproven says what is released, or chosen, without noise.
func (s *DPSYN) unproven() pipeline.Unproven {
	const sizes = "the size of each mixture is chosen by the codes of its rows, without noise"
	switch {
	case s.Labels == "private" && s.Mixture.chosen():
		return pipeline.Unproven{Rule: "W16", Why: sizes}
	case s.Labels == "private":
		return pipeline.Unproven{}
	}
	u := pipeline.Unproven{Rule: "W05", Why: "labels are taken as public, and the model holds how large a share of the " +
		"rows each has, without noise"}
	if s.Mixture.chosen() {
		u.Why += "; " + sizes + " (W16)"
	}
	return u
}

// labelled is a training that is planned.
type labelled struct {
	*DPSYN
	column, labels int
	rate           float64
	nets           coders
	auto           *net.Net // encoder and decoder of one label
}

func (l *labelled) plan(d *domain.Domain) (err error) {
	if l.nets, err = l.Coder.nets(d, l.LatentDim, l.labels, net.Activation("tanh")); err != nil {
		return err
	}
	if l.auto, err = training.Chain(l.nets.encoder, l.nets.decoder); err != nil {
		return err
	}
	return errors.Join(training.InReach(l.DPSGD(1, l.rate, l.weights())), l.fits())
}

// fits returns a problem where the moments of all labels could not be held: for each component
// 8 bytes a product of two coordinates, as integers on every core, noisy and as matrices.
func (l *labelled) fits() error {
	var ps schema.Problems
	each := float64(l.labels*l.Mixture.Components) * (float64(float64(l.LatentDim)*float64(l.LatentDim)) + 1)
	training.Fits(&ps, training.Costs("mixture.components", fmt.Sprintf("%d of %d labels", l.Mixture.Components,
		l.labels), 12*each))
	return ps.Err()
}

func (l *labelled) weights() int { return l.labels * l.auto.Params() }

// run trains, learns the mixtures, and gives the part of each label.
func (l *labelled) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) ([]training.Part, error) {
	t := in["in"]
	learning, err := training.Begin(ctx, env, t, 0, l.CheckpointEvery, l.LeftOut(env, in))
	if err != nil {
		return nil, err
	}
	labels, err := learning.Table.Codes(l.column)
	if err != nil {
		return nil, err
	}
	w, err := l.train(ctx, env, t.Domain, learning, labels)
	if err != nil {
		return nil, err
	}
	paid, err := env.Privacy.Open(mixtureSpend)
	if err != nil {
		return nil, err
	}
	m := emConfig{Rounds: l.Mixture.Rounds, Floor: floor * l.Mixture.MaxCodeNorm,
		moments: moments{Labels: l.labels, Components: l.Mixture.Components, Dim: l.LatentDim,
			Radius: l.Mixture.MaxCodeNorm}}
	x := l.codes(w, learning.Rows, labels)
	if l.Mixture.chosen() {
		if m.Used, err = clusters(ctx, m.moments, x, m.Components, env.Rand("clusters")); err != nil {
			return nil, err
		}
	}
	mixtures, err := fitMixtures(ctx, m, x, env.Rand("mixture"), paid)
	if err != nil {
		return nil, err
	}
	if l.Labels == "public" {
		count(mixtures, labels)
	}
	return l.parts(t.Domain, w, mixtures), nil
}

// count sets the shares of labels to exact ones, where there is a row.
func count(mixtures []codeMixture, labels []int32) {
	if len(labels) == 0 {
		return
	}
	for l := range mixtures {
		mixtures[l].Share = 0
	}
	for _, l := range labels {
		mixtures[l].Share += 1 / float64(len(labels))
	}
}

// train returns the weights of all autoencoders.
func (l *labelled) train(ctx context.Context, env *pipeline.Env, d *domain.Domain, learning training.Learning,
	labels []int32) ([]float32, error) {
	criterion, err := heads(d, l.column)
	if err != nil {
		return nil, err
	}
	one, err := train.Autoencoder(l.auto, learning.Rows, criterion)
	if err != nil {
		return nil, err
	}
	all, err := train.NewByLabel(one, labels, l.labels)
	if err != nil {
		return nil, err
	}
	random := env.Rand("weights")
	var start []float32
	for range l.labels {
		start = append(start, l.auto.Init(random)...)
	}
	return train.Fit(ctx, l.config(learning.Worst), all, start, learning.Rows.Len(), learning.Paid, learning.Hooks)
}

// labelWeights returns the weights of one label's autoencoder.
func (l *labelled) labelWeights(w []float32, label int) []float32 {
	n := l.auto.Params()
	return w[label*n:][:n]
}

// codes returns what the encoder of each row's label makes of it.
func (l *labelled) codes(w []float32, rows *train.Rows, labels []int32) labelledCodes {
	index := make([][]int32, l.labels)
	for i, label := range labels {
		index[label] = append(index[label], int32(i))
	}
	x := labelledCodes{Dim: l.LatentDim}
	for label, of := range index {
		x.Values = append(x.Values, train.Encode(l.nets.encoder, l.labelWeights(w, label), rows, of)...)
		for range of {
			x.Labels = append(x.Labels, int32(label))
		}
	}
	return x
}

// parts returns decoders with their mixtures; each says its own label.
func (l *labelled) parts(d *domain.Domain, w []float32, mixtures []codeMixture) []training.Part {
	pos := 0
	for _, c := range d.Columns[:l.column] {
		pos += c.Encoding.Width
	}
	parts := make([]training.Part, l.labels)
	for label, m := range mixtures {
		parts[label] = training.Part{Share: m.Share, Net: l.nets.released, Weights: l.labelWeights(w,
			label)[l.nets.encoder.Params():]}
		fix(parts[label].Weights, l.nets.released, pos, l.labels, label)
		for _, g := range m.Components {
			parts[label].Prior = append(parts[label].Prior, training.Normal{Share: g.Weight, Mean: g.Mean, Factor: g.Factor})
		}
	}
	return parts
}

// fix writes over the weights of the outputs from at on, of which there are n: whatever
// the code, they put out the one of the label, and e^-100 of its probability for others.
func fix(w []float32, n *net.Net, pos, labels, label int) {
	tensors := n.Tensors()
	weight, bias := tensors[len(tensors)-2], tensors[len(tensors)-1]
	units := bias.Size()
	for row := range weight.Size() / units {
		clear(w[weight.Offset+row*units+pos:][:labels])
	}
	clear(w[bias.Offset+pos:][:labels])
	w[bias.Offset+pos+label] = 100
}
