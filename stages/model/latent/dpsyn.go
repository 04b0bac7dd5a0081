package latent

import (
	"context"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/labels"
	"weir/stages/model/internal/training"
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
// it and releases how many each part has. Labels public does the latter, which has no
// proof (W05); nothing here samples the parts at rates of their own. It also chooses the size of each mixture by the
// codes of its rows, which Mixture.Choice does, without proof (W16).
type DPSYN struct {
	training.Sampling `yaml:",inline"`
	training.Removal  `yaml:",inline"`
	Label             string `yaml:"label" json:"label" required:"true" format:"columns" doc:"One-hot encoded column whose categories have an autoencoder and a mixture each. What is in a label without rows is noise; its share is near 0."`
	Labels            string `yaml:"labels" json:"labels" enum:"private|public" doc:"private: shares of labels are noisy sizes; public, as published: they are exact, which nothing proves."`
	Coder             `yaml:",inline"`
	Mixture           Mixture `yaml:"mixture" json:"mixture" doc:"The mixtures of codes."`
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
		Doc: "Trains an autoencoder for each label by DP-SGD, learns the codes of its rows as a mixture of Gaussians by noisy expectation maximisation, and releases decoders and mixtures. " +
			"Labels are private: all autoencoders learn in the same steps, and shares of labels are noisy. " +
			"Use it after encode where one column, such as a target, divides the rows; sample with a condition on it wastes few rows. Needs an encoded table of stability rows(c).",
		In:      []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."}, training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The decoders, with the mixture of each."}},
		Readers: generator.Readers(),
		New: func() pipeline.Stage {
			return &DPSYN{Sampling: training.Sampling{Steps: 2000, ExpectedBatchSize: 500, MaxGradNorm: 1}, Labels: "private",
				Coder:   Coder{Encoder: []int{32}, Decoder: []int{32}, Activation: "tanh", LatentDim: 6, LearningRate: 5e-3, Average: 0.99, CheckpointEvery: 2000},
				Mixture: Mixture{Components: 6, Choice: "given", Rounds: 8, MaxCodeNorm: 2, Share: 0.2}}
		},
	}
}

// Plan prices the training.
func (s *DPSYN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	encoded.Need(h, &ps)
	generator.Readable(h, &ps)
	rate := s.Rate(h, &ps)
	label := labels.Column(h.Domain, s.Label, &ps)
	if s.Mixture.Components > 1 && s.Mixture.Rounds < 2 {
		ps.Add("mixture.rounds", "1", "at least 2 for more than one component: the first round tells where components start")
	}
	if s.Mixture.chosen() && s.Mixture.Components < 2 {
		ps.Add("mixture.components", "1", "at least 2 where mixture.choice chooses")
	}
	s.CheckRemoval(in, &ps, training.Batch{Setting: "expected_batch_size", Rows: s.ExpectedBatchSize})
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
		Terms:    pipeline.Pricing{Scale: s.NoiseMultiplier, Published: publishedSYN(s, rate), Unproven: s.UnprovenBeside(in, s.unproven())},
		Findings: s.Findings("expected_batch_size", h),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			parts, err := l.run(ctx, env, in)
			if err != nil {
				return nil, err
			}
			model, err := generator.Release(out, "dp_syn", parts...)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// mixtureNoise is the multiplier of the mixtures at that of DP-SGD: Mixture.Share is theirs
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
	u := pipeline.Unproven{Rule: "W05", Why: "labels are taken as public, and the model holds how large a share of the rows each has, without noise"}
	if s.Mixture.chosen() {
		u.Why += "; " + sizes + " (W16)"
	}
	return u
}
