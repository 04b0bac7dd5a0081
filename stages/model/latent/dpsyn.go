package latent

import (
	"context"
	"fmt"
	"math"

	"weir/internal/portable"
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/mixture"
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
//  2. rounds of noisy moments of all labels' codes (mixture.Moments), under one Gaussian
//     filter. Sensitivity: sqrt 3 rows under add_remove, sqrt 6 under replace_one.
//
// Encoders are noised, so codes are a function of a row and of public history, as
// adaptive composition wants. Adjacency: of the spec. Guarantee: that of
// repeated(steps, poisson_sampled(gaussian)) and gaussian together, for all that is
// released: decoders, mixtures and the shares of labels, which are noisy sizes.
//
// The published system takes the label of each row as public: it splits the rows by
// it, samples each part at a rate of its own and releases its size. Nothing here does.
type DPSYN struct {
	training.Sampling `yaml:",inline"`
	Label             string `yaml:"label" json:"label" required:"true" format:"columns" doc:"One-hot encoded column whose categories have an autoencoder and a mixture each. What is in a label without rows is noise; its share is near 0."`
	Coder             `yaml:",inline"`
	Mixture           Mixture `yaml:"mixture" json:"mixture" doc:"The mixtures of codes."`
}

// Mixture says how codes are learned.
type Mixture struct {
	Components  int     `yaml:"components" json:"components" min:"1" max:"1000" doc:"Gaussians of a label. It is public: to choose it by the data (Calinski-Harabasz index, as published) would have to be paid for."`
	Rounds      int     `yaml:"rounds" json:"rounds" min:"1" max:"1000" doc:"Noisy moments that are asked for; the first for whole labels, to start from."`
	MaxCodeNorm float64 `yaml:"max_code_norm" json:"max_code_norm" exclusiveMin:"0" max:"1e6" doc:"Bound on the L2 norm of a code, which is between -1 and 1 in each number; a longer one is shortened."`
	Share       float64 `yaml:"share" json:"share" exclusiveMin:"0" exclusiveMax:"1" doc:"Share of the mixtures in the squared privacy loss of the stage; the autoencoders have the rest. 0.5 is half of epsilon each, nearly."`
}

const (
	mixtureSpend = "mixture"
	// floor is the least standard deviation of a component, of max_code_norm.
	floor = 0.01
)

func dpSYNKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_syn", Version: 1,
		Doc: "Trains an autoencoder for each label by DP-SGD, learns the codes of its rows as a mixture of Gaussians by noisy expectation maximisation, and releases decoders and mixtures. " +
			"Labels are private: all autoencoders learn in the same steps, and shares of labels are noisy. " +
			"Use it after encode where one column, such as a target, divides the rows; sample with a condition on it wastes few rows. Needs an encoded table of stability rows(c).",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."}},
		Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The decoders, with the mixture of each."}},
		New: func() pipeline.Stage {
			return &DPSYN{Sampling: training.Sampling{Steps: 2000, ExpectedBatchSize: 500, MaxGradNorm: 1},
				Coder:   Coder{Encoder: []int{32}, Decoder: []int{32}, Activation: "tanh", LatentDim: 5, LearningRate: 5e-3, Average: 0.99, CheckpointEvery: 2000},
				Mixture: Mixture{Components: 3, Rounds: 6, MaxCodeNorm: 2, Share: 0.3}}
		},
	}
}

// Plan prices the training.
func (s *DPSYN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps pipeline.Problems
	encoded.Need(h, &ps)
	generator.Readable(h, &ps)
	rate := s.Rate(h, &ps)
	label := s.label(h.Domain, &ps)
	if s.Mixture.Components > 1 && s.Mixture.Rounds < 2 {
		ps.Add("mixture.rounds", "1", "at least 2 for more than one component: the first round tells where components start")
	}
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	l := &labelled{DPSYN: s, column: label, labels: h.Domain.Columns[label].Encoding.Width, rate: rate}
	if err := l.plan(h.Domain); err != nil {
		return pipeline.Work{}, err
	}
	out := encoded.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{
			{Name: training.Spend, Doc: fmt.Sprintf("DP-SGD on the autoencoders of %d labels, sampling rate %.4g", l.labels, rate),
				Mechanism: func(scale float64) privacy.Mechanism { return s.DPSGD(scale, rate, l.weights()) }},
			{Name: mixtureSpend, Doc: fmt.Sprintf("%d rounds of moments of the codes of %d labels", s.Mixture.Rounds, l.labels),
				Mechanism: func(scale float64) privacy.Mechanism {
					return mechanism.GaussianFilter{NoiseMultiplier: s.mixtureNoise(scale, rate), Adjacency: h.Terms.Adjacency}
				}},
		},
		Terms: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: publishedSYN(s, rate)},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			parts, err := l.run(ctx, env, in["in"])
			if err != nil {
				return nil, err
			}
			model, err := generator.Release(out, "dp_syn", parts...)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// label is the place of the label's column.
func (s *DPSYN) label(d *pipeline.Domain, ps *pipeline.Problems) int {
	at := d.Index(s.Label)
	if at < 0 {
		ps.Unknown("label", "column of the table", s.Label, d.Names())
	} else if e := d.Columns[at].Encoding; e == nil || e.Form != pipeline.OneHot {
		ps.Add("label", "column "+s.Label+", which is not one-hot encoded", "a column that encode lists in one_hot")
	}
	return at
}

// mixtureNoise is the multiplier of the mixtures at that of DP-SGD: the squared privacy
// losses of both, mu^2 of Gaussian differential privacy, are in the ratio that Share
// says. That of DP-SGD is taken from its limit theorem, rate^2 steps (exp(1/scale^2)-1)
// (Bu, Dong, Long, Su 2020); it divides the budget and bounds nothing. Without noise
// there is none here either.
func (s *DPSYN) mixtureNoise(scale, rate float64) float64 {
	if scale == 0 {
		return 0
	}
	steps := rate * rate * float64(s.Steps) * portable.Expm1(math.Min(1/(scale*scale), 40))
	return math.Min(math.Max(math.Sqrt((1-s.Mixture.Share)/(s.Mixture.Share*steps)), 0x1p-20), 0x1p40)
}

// labelled is a training that is planned.
type labelled struct {
	*DPSYN
	column, labels int
	rate           float64
	nets           coders
	auto           *net.Net // encoder and decoder of one label
}

func (l *labelled) plan(d *pipeline.Domain) (err error) {
	if l.nets, err = l.Coder.nets(d, l.LatentDim, l.labels, net.Activation("tanh")); err != nil {
		return err
	}
	if l.auto, err = generator.Chain(l.nets.encoder, l.nets.decoder); err != nil {
		return err
	}
	return training.InReach(l.DPSGD(1, l.rate, l.weights()))
}

func (l *labelled) weights() int { return l.labels * l.auto.Params() }

// run trains, learns the mixtures, and gives the part of each label.
func (l *labelled) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) ([]generator.Part, error) {
	begun, err := training.Begin(ctx, env, t, 0, l.CheckpointEvery)
	if err != nil {
		return nil, err
	}
	labels, err := begun.Table.Codes(l.column)
	if err != nil {
		return nil, err
	}
	w, err := l.train(ctx, env, t.Domain, begun, labels)
	if err != nil {
		return nil, err
	}
	paid, err := env.Privacy.Open(mixtureSpend)
	if err != nil {
		return nil, err
	}
	m := mixture.Config{Rounds: l.Mixture.Rounds, Floor: floor * l.Mixture.MaxCodeNorm,
		Moments: mixture.Moments{Labels: l.labels, Components: l.Mixture.Components, Dim: l.LatentDim, Radius: l.Mixture.MaxCodeNorm}}
	mixtures, err := mixture.Fit(ctx, m, l.codes(w, begun.Rows, labels), env.Rand("mixture"), paid)
	if err != nil {
		return nil, err
	}
	return l.parts(t.Domain, w, mixtures), nil
}

// train returns the weights of all autoencoders.
func (l *labelled) train(ctx context.Context, env *pipeline.Env, d *pipeline.Domain, begun training.Learning, labels []int32) ([]float32, error) {
	criterion, err := heads(d, l.column)
	if err != nil {
		return nil, err
	}
	one, err := train.Autoencoder(l.auto, begun.Rows, criterion)
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
	return train.Fit(ctx, l.config(), all, start, begun.Rows.Len(), begun.Paid, begun.Hooks)
}

// of are the weights of one label's autoencoder.
func (l *labelled) of(w []float32, label int) []float32 {
	n := l.auto.Params()
	return w[label*n:][:n]
}

// codes are what the encoder of each row's label makes of it.
func (l *labelled) codes(w []float32, rows *train.Rows, labels []int32) mixture.Codes {
	index := make([][]int32, l.labels)
	for i, label := range labels {
		index[label] = append(index[label], int32(i))
	}
	x := mixture.Codes{Dim: l.LatentDim}
	for label, of := range index {
		x.Values = append(x.Values, train.Encode(l.nets.encoder, l.of(w, label), rows, of)...)
		for range of {
			x.Labels = append(x.Labels, int32(label))
		}
	}
	return x
}

// parts are decoders with their mixtures; each says its own label.
func (l *labelled) parts(d *pipeline.Domain, w []float32, mixtures []mixture.Mixture) []generator.Part {
	at := 0
	for _, c := range d.Columns[:l.column] {
		at += c.Encoding.Width
	}
	parts := make([]generator.Part, l.labels)
	for label, m := range mixtures {
		parts[label] = generator.Part{Share: m.Share, Net: l.nets.released, Weights: l.of(w, label)[l.nets.encoder.Params():]}
		fix(parts[label].Weights, l.nets.released, at, l.labels, label)
		for _, g := range m.Components {
			parts[label].Prior = append(parts[label].Prior, generator.Normal{Share: g.Weight, Mean: g.Mean, Factor: g.Factor})
		}
	}
	return parts
}

// fix writes over the weights of the outputs from at on, of which there are n: whatever
// the code, they put out the one of the label, and e^-100 of its probability for others.
func fix(w []float32, n *net.Net, at, labels, label int) {
	tensors := n.Tensors()
	weight, bias := tensors[len(tensors)-2], tensors[len(tensors)-1]
	units := bias.Size()
	for row := range weight.Size() / units {
		clear(w[weight.Offset+row*units+at:][:labels])
	}
	clear(w[bias.Offset+at:][:labels])
	w[bias.Offset+at+label] = 100
}
