package gan

import (
	"context"
	"fmt"
	"math/rand/v2"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"

	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// DPWGAN is the Wasserstein GAN with weight clipping of UCLANESL (2018 NIST
// differential privacy synthetic data challenge), Algorithm 2, in its proven
// variant.
//
// Input: an encoded private table of stability rows(c). Mechanism: steps noisy
// sums of the critic's per-example gradients on Poisson samples of real rows,
// each clipped over all weights together to max_grad_norm. Sensitivity:
// max_grad_norm for one row (twice that under replace_one, applied by the
// accountant; c times for c rows). Adjacency: of the spec. Guarantee: as for
// repeated(steps, poisson_sampled(gaussian)) for all iterates of critic and
// generator, since the generated part of the loss, weight clipping and the
// generator are post-processing (Abadi et al. 2016; docs/accounting.md section 4).
//
// With clip tensor each weight tensor has a clip and noise of its own; together they are
// one release of sensitivity sqrt(tensors) max_grad_norm (McMahan et al. 2018), which is
// proven as well. With program the published program runs, of which nothing is proven.
type DPWGAN struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier remove_anomalies critic_steps generator_steps optimiser learning_rate generator_rate weight_clip average generated_batch latent_dim generator critic checkpoint_every" enum.optimiser:"rmsprop|adam" doc.optimiser:"Optimiser of critic and generator; adam has betas 0.5 and 0.9." exclusiveMin.weight_clip:"0" doc.weight_clip:"Bound on every weight of the critic." minItems.generator:"1"`

	Clip    string   `yaml:"clip,omitempty" json:"clip,omitempty" enum:"example|tensor" doc:"What max_grad_norm bounds: a row's gradient over all weights together (example, the default), or over each weight tensor for itself (tensor, as UCLANESL clips). Of tensor, noise_multiplier is over that bound of each, and the bill has one release at the multiplier over the root of the number of tensors."`
	Style   string   `yaml:"style,omitempty" json:"style,omitempty" enum:"weir|uclanesl" doc:"Slope of LeakyReLU, initial weights and rmsprop: of weir (the default: 0.2, uniform, that of PyTorch) or of UCLANESL's program (0.01, normal of deviation 0.1 cut at two and offsets of 0, that of TensorFlow 1.13)."`
	Program *Program `yaml:"program,omitempty" json:"program,omitempty" doc:"Runs the published program: batches of expected_batch_size rows from one shuffle an epoch, noise and steps by its budget (steps is then not used). Nothing is proven of it, so it runs under claims: published alone."`
}

const (
	clipTensor    = "tensor"
	styleUCLANESL = "uclanesl"
)

func dpWGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_wgan", Version: 3,
		Doc: "Wasserstein GAN by DP-SGD on the critic. Trains the Wasserstein GAN of UCLANESL (NIST challenge 2018, " +
			"Algorithm 2) by DP-SGD on the critic and " +
			"releases the generator. " +
			"Batches are Poisson samples and one clip covers all weights of an example, or one each weight tensor, so that " +
			"the bill is proven; the published program with its shuffled batches (program) is not. " +
			"Use it after encode; numbers cut into declared bins (discretize, then one_hot) come out far nearer than numbers " +
			"scaled by min_max. Needs an encoded table of stability rows(c).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table."},
			training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The generator."}},
		Readers: append(training.Readers(), training.Former()),
		New: func() pipeline.Stage {
			return &DPWGAN{Settings: training.Settings{
				Sampling:    training.Sampling{Steps: 4000, ExpectedBatchSize: 1000, MaxGradNorm: 0.25},
				CriticSteps: 5, GeneratorSteps: 1, Optimiser: "rmsprop", LearningRate: 1e-3, GeneratorRate: 5e-4, WeightClip: 0.05,
				Average: 0.995, GeneratedBatch: 128,
				LatentDim: 32, Generator: []int{64}, Critic: []int{24}, CheckpointEvery: 2000}}
		},
	}
}

// Plan prices the training.
func (s *DPWGAN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	rate := s.rate(h, &ps)
	if s.Program == nil && s.Steps < s.CriticSteps {
		ps.Add("steps", fmt.Sprintf("%d, so that the generator is never trained", s.Steps),
			fmt.Sprintf("at least critic_steps, %d", s.CriticSteps))
	}
	s.CheckRemoval(in, &ps, training.Batch{Setting: "expected_batch_size", Rows: s.ExpectedBatchSize},
		training.Batch{Setting: "generated_batch", Rows: float64(s.GeneratedBatch)})
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	critic, gen, err := s.nets(h.Domain)
	if err != nil {
		return pipeline.Work{}, err
	}
	noise, steps, published := s.schedule(h, rate, len(critic.Tensors()))
	mechanism := func(scale float64) train.DPSGD { return s.mechanism(scale, rate, steps, h, critic) }
	if err := training.InReach(mechanism(1)); err != nil {
		return pipeline.Work{}, err
	}
	out := training.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{{Name: training.Spend, Doc: s.describe(rate, len(critic.Tensors())),
			Mechanism: func(scale float64) privacy.Mechanism { return mechanism(scale) }}},
		Pricing:  pipeline.Pricing{Scale: noise, Published: published, Unproven: s.UnprovenBeside(in, s.Program.unproven())},
		Findings: s.findings(h),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			trained, err := s.train(ctx, env, in, critic, gen)
			if err != nil {
				return nil, err
			}
			model, err := training.Release(out, "dp_wgan", training.Part{Share: 1, Net: gen, Weights: trained})
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// mechanism returns the one value from which batches, clips, noise and event come.
func (s *DPWGAN) mechanism(scale, rate float64, steps int, h pipeline.Header, critic *net.Net) train.DPSGD {
	m := s.DPSGD(scale, rate, critic.Params())
	m.Steps = steps
	if s.Clip == clipTensor {
		m.Tensors = len(critic.Tensors())
	}
	if s.Program != nil {
		m.Shuffle = int(s.Program.shuffled(h))
	}
	return m
}

func (s *DPWGAN) describe(rate float64, tensors int) string {
	name := fmt.Sprintf("DP-SGD on the critic, sampling rate %.4g", rate)
	if s.Clip == clipTensor {
		name += fmt.Sprintf(", %d weight tensors as one release", tensors)
	}
	if s.Program != nil {
		name = fmt.Sprintf("noisy steps on the critic, %g rows each from one shuffle an epoch, %d weight tensors",
			s.ExpectedBatchSize, tensors)
	}
	return name
}

// nets returns the nets of the settings, if a training can hold them.
func (s *DPWGAN) nets(d *domain.Domain) (critic, gen *net.Net, err error) {
	var ps schema.Problems
	training.Shallow(&ps, "critic", s.Critic)
	training.Shallow(&ps, "generator", s.Generator)
	width := training.Width(d)
	c, g := training.Widths(width, s.Critic, 1), training.Widths(1, s.Generator, width)
	training.Fits(&ps, training.Costs("generator", fmt.Sprint(s.Generator), training.NetCopies*training.Weights(g...)),
		training.Costs("latent_dim", fmt.Sprint(s.LatentDim),
			float64(s.LatentDim)*(float64(training.NetCopies*float64(g[1]))+
				float64(training.PassCopies*float64(s.GeneratedBatch)))),
		training.Costs("critic", fmt.Sprint(s.Critic), training.NetCopies*training.Weights(c...)),
		training.Costs("generated_batch", fmt.Sprint(s.GeneratedBatch), training.PassCopies*float64(s.GeneratedBatch)*(training.Units(g...)+training.Units(c...))))
	if err := ps.Err(); err != nil {
		return nil, nil, err
	}
	slope := leak
	if s.Style == styleUCLANESL {
		slope = leakUCLANESL
	}
	return nets(training.Leaky(slope, s.Critic), training.Leaky(slope, s.Generator), s.LatentDim, d)
}

// train returns the generator's weights; the critic stays here.
func (s *DPWGAN) train(ctx context.Context, env *pipeline.Env, in pipeline.Tables, critic, gen *net.Net) ([]float32,
	error) {
	l, err := training.Begin(ctx, env, in["in"], 0, s.CheckpointEvery, s.LeftOut(env, in))
	if err != nil {
		return nil, err
	}
	weights := env.Rand("weights")
	_, trained, err := train.WGAN(ctx, s.config(env, l.Worst), critic, gen, s.fresh(critic, weights),
		s.fresh(gen, weights), l.Rows, l.Paid, l.Hooks)
	return trained, err
}

// fresh returns weights to begin with.
func (s *DPWGAN) fresh(n *net.Net, r *rand.Rand) []float32 {
	if s.Style == styleUCLANESL {
		return n.InitTruncated(r, 0.1)
	}
	return n.Init(r)
}

func (s *DPWGAN) config(env *pipeline.Env, worst *train.Worst) train.WGANConfig {
	return train.WGANConfig{CriticSteps: s.CriticSteps, GeneratorSteps: s.GeneratorSteps,
		WeightClip: s.WeightClip, GeneratorBatch: s.GeneratedBatch, Critic: s.optimiser(s.LearningRate),
		Generator: s.optimiser(s.generatorRate()),
		Average:   s.Average, Seed: env.Rand("training").Uint64(), Worst: worst}
}

func (s *DPWGAN) generatorRate() float64 {
	if s.GeneratorRate > 0 {
		return s.GeneratorRate
	}
	return s.LearningRate
}

// optimiser has for adam the betas of Gulrajani et al. 2017 on tables of ours: 0.5, 0.9.
func (s *DPWGAN) optimiser(rate float64) train.Optimiser {
	switch {
	case s.Optimiser == "adam":
		return train.Adam(rate, 0.5, 0.9)
	case s.Style == styleUCLANESL:
		return train.RMSPropTensorFlow(rate)
	}
	return train.RMSProp(rate)
}
