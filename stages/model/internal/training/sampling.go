// Package training holds what the families that learn by steps share: how they
// begin, sample private rows, report, and continue, and of those that learn nets the
// released generator, nets made from settings, and bounds on memory.
package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/train"
)

// Settings declares every setting that several kinds which learn by steps have. A kind embeds it and lists in its tag
// keys which of them it has, in the order of the canonical form; beside it the kind says what is different there, such
// as doc.steps.
type Settings struct {
	_ struct{} `defs:"training" title:"Settings of training" doc:"Settings of the kinds that learn by steps. Each kind has some of them, with defaults of its own."`

	Sampling            `yaml:",inline"`
	BatchSize           int     `yaml:"batch_size" json:"batch_size" min:"1" doc:"Generated rows of a step."`
	Optimiser           string  `yaml:"optimiser" json:"optimiser" enum:"rmsprop|adam|sgd" doc:"Optimiser of the nets."`
	LearningRate        float64 `yaml:"learning_rate" json:"learning_rate" exclusiveMin:"0" doc:"Learning rate of the net that learns from rows: of a GAN the critic."`
	GeneratorRate       float64 `yaml:"generator_rate,omitempty" json:"generator_rate,omitempty" exclusiveMin:"0" doc:"Learning rate of the generator; learning_rate by default."`
	CriticSteps         int     `yaml:"critic_steps" json:"critic_steps" min:"1" doc:"Steps of the critic before each turn of the generator."`
	GeneratorSteps      int     `yaml:"generator_steps" json:"generator_steps" min:"1" doc:"Generator steps in a turn; they cost no privacy."`
	WeightClip          float64 `yaml:"weight_clip" json:"weight_clip" min:"0" doc:"Bound on every weight of the critic; 0 is none."`
	Average             float64 `yaml:"average" json:"average" min:"0" exclusiveMax:"1" doc:"Decay of the running average of the weights, of a GAN the generator's, which is what is released; 0 releases the last weights."`
	GeneratedBatch      int     `yaml:"generated_batch" json:"generated_batch" min:"1" doc:"Generated rows per step of critic and generator; they cost no privacy."`
	LatentDim           int     `yaml:"latent_dim,omitempty" json:"latent_dim,omitempty" min:"1" doc:"Dimension of the standard normal vector that a generated row starts from."`
	Generator           []int   `yaml:"generator" json:"generator" min:"1" doc:"Units of the generator's hidden layers."`
	GeneratorActivation string  `yaml:"generator_activation" json:"generator_activation" enum:"leaky_relu|relu|tanh" doc:"Activation of the generator's hidden layers; leaky_relu has slope 0.2."`
	Critic              []int   `yaml:"critic" json:"critic" min:"1" minItems:"1" doc:"Units of the critic's hidden layers."`
	Encoder             []int   `yaml:"encoder" json:"encoder" min:"1" minItems:"1" doc:"Units of the encoder's hidden layers."`
	Decoder             []int   `yaml:"decoder" json:"decoder" min:"1" minItems:"1" doc:"Units of the decoder's hidden layers."`
	Activation          string  `yaml:"activation" json:"activation" enum:"leaky_relu|relu|tanh" doc:"Activation of the hidden layers; leaky_relu has slope 0.2."`
	NoiseRatio          float64 `yaml:"noise_ratio" json:"noise_ratio" exclusiveMin:"0" doc:"Noise multiplier of the autoencoder over that of the critic where both are calibrated to the budget: a public number."`
	LabelSetting        `yaml:",inline"`
	Removal             `yaml:",inline"`
	CheckpointEvery     int `yaml:"checkpoint_every" json:"checkpoint_every" min:"1" doc:"Steps between private checkpoints, from which an interrupted run continues."`
}

// Sampling says how a stage draws its batches of private rows.
type Sampling struct {
	Steps             int     `yaml:"steps" json:"steps" min:"1" max:"1000000000" doc:"Noisy steps: each is one Poisson sample, one clipped sum, one draw of noise."`
	ExpectedBatchSize float64 `yaml:"expected_batch_size" json:"expected_batch_size" exclusiveMin:"0" doc:"Public divisor of the noisy sum; with a public row count it sets the sampling rate."`
	SamplingRate      float64 `yaml:"sampling_rate,omitempty" json:"sampling_rate,omitempty" exclusiveMin:"0" max:"1" doc:"Probability that a row is in a step's batch; expected_batch_size over the public row count by default."`
	MaxGradNorm       float64 `yaml:"max_grad_norm" json:"max_grad_norm" exclusiveMin:"0" doc:"Bound on the L2 norm of one row's gradient over all weights."`
	NoiseMultiplier   float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise standard deviation over max_grad_norm; calibrated to the budget by default."`
}

// DPSGD returns the one value from which sampler, clip, noise and event come, for a gradient
// of the given number of weights. Without privacy (multiplier 0) there is neither noise nor clip.
func (s Sampling) DPSGD(multiplier, rate float64, weights int) train.DPSGD {
	if multiplier == 0 {
		s.MaxGradNorm = math.Inf(1)
	}
	return train.DPSGD{MaxGradNorm: s.MaxGradNorm, NoiseMultiplier: multiplier, SamplingRate: rate,
		ExpectedBatchSize: s.ExpectedBatchSize, Steps: s.Steps, Weights: weights}
}

// NoiseBeside returns the multiplier of one Gaussian release beside so much DP-SGD that has share
// of the squared privacy loss of both, mu^2 of Gaussian differential privacy. The loss of DP-SGD is taken from its
// limit theorem, rate^2 steps (exp(1/multiplier^2)-1) (Bu, Dong, Long, Su 2020); it divides the budget and
// bounds nothing. It is 0 without noise.
func (s Sampling) NoiseBeside(multiplier, rate, share float64) float64 {
	if multiplier == 0 {
		return 0
	}
	squares := rate * rate * float64(s.Steps) * bitmath.Expm1(math.Min(1/(multiplier*multiplier), 40))
	return math.Sqrt((1 - share) / (share * squares))
}

// Rate returns the sampling rate, from public facts alone.
func (s Sampling) Rate(h pipeline.Header, ps *schema.Problems) float64 {
	switch {
	case s.SamplingRate*float64(h.Rows) > s.ExpectedBatchSize*roundingSlack:
		ps.Add("expected_batch_size", fmt.Sprintf("%g, below sampling_rate times the public row count", s.ExpectedBatchSize),
			"at least that: it divides the sum of a batch")
		return s.SamplingRate
	case s.SamplingRate > 0:
		return s.SamplingRate
	case h.Rows > 0:
		return min(1, s.ExpectedBatchSize/float64(h.Rows))
	}
	ps.Refuse("W05", "sampling_rate", "missing, and the row count of the table is private",
		"given, or follow from dataset.rows_public through stages that keep the count")
	return 1
}

// Findings warn of a batch size that no batch can have, from public facts alone. What runs
// is sound and priced as it is: every row in every step where no sampling_rate says
// otherwise. setting is the path of expected_batch_size in the stage.
func (s Sampling) Findings(setting string, h pipeline.Header) []pipeline.Finding {
	if h.Rows == 0 || s.ExpectedBatchSize <= float64(h.Rows)*roundingSlack {
		return nil
	}
	effect := "the sampling rate is 1, so that every step takes every row and sampling saves no noise, and a sum over " +
		"all rows is divided by more than there are"
	if s.SamplingRate > 0 {
		effect = "no batch holds so many, and the sum over each is divided by that number"
	}
	return []pipeline.Finding{{Rule: "W40", Level: pipeline.LevelWarning,
		Message: fmt.Sprintf("%s, %g, is above the public row count, %d: %s", setting, s.ExpectedBatchSize, h.Rows, effect),
		Fix:     fmt.Sprintf("%s of at most %d; a small part of it lets sampling lower the noise", setting, h.Rows)}}
}

// roundingSlack forgives the last digits of a rate that was computed as
// expected_batch_size over the row count.
const roundingSlack = 1 + 1e-9

// InReach returns a problem where a mechanism with as much noise as its clip cannot be drawn;
// the bill finds the noise only later, and says so in other words.
func InReach(m privacy.Mechanism) error {
	var ps schema.Problems
	err := m.Check()
	if d, sampled := m.(train.DPSGD); sampled && err != nil {
		if most := d.MostBatch(); most > 0 && float64(most) < math.Floor(d.ExpectedBatchSize) {
			ps.Add("expected_batch_size", fmt.Sprintf("%g, more rows than the sum of a step over these nets can be noised for "+
				"in float32", d.ExpectedBatchSize), fmt.Sprintf("at most %d", most))
			return ps.Err()
		}
	}
	if err != nil {
		ps.Add("max_grad_norm", "one for which the noise cannot be computed: "+err.Error(),
			"a value, with the batch sizes, at which sums in float32 can be noised")
	}
	return ps.Err()
}

// Spend names the one mechanism of a stage that trains.
const Spend = "train"

// Learning is a training that is paid for.
type Learning struct {
	Table  *columns.Encoded
	Rows   *train.Rows
	Shards [][]int32    // rows of each shard; nil where the table is not sharded
	Worst  *train.Worst // rows that batches leave out; nil: none
	Paid   *privacy.Handle
	Hooks  train.Hooks
}

// Begin reads an encoded table, of k shards (0: not sharded), and then pays: a
// table that cannot be read, or not be made ready, costs nothing. every is how many steps lie between
// checkpoints.
func Begin(ctx context.Context, env *pipeline.Env, t pipeline.Table, k, every int, ready ...func(context.Context,
	*Learning) error) (l Learning, err error) {
	if l.Table, err = columns.ReadEncoded(ctx, t); err != nil {
		return l, err
	}
	if l.Rows, err = l.Table.Rows(); err != nil {
		return l, err
	}
	if k > 0 {
		if l.Shards, err = l.Table.ByShard(k); err != nil {
			return l, err
		}
	}
	for _, do := range ready {
		if err = do(ctx, &l); err != nil {
			return l, err
		}
	}
	l.Paid, l.Hooks, err = Pay(env, every)
	return l, err
}

// Pay pays for a training whose rows are read, and ties its loop to the stage.
func Pay(env *pipeline.Env, every int) (paid *privacy.Handle, h train.Hooks, err error) {
	if paid, err = env.Privacy.Open(Spend); err != nil {
		return nil, h, err
	}
	h, err = hooks(env, every)
	return paid, h, err
}

// progressEvery is how many steps pass between two looks at the progress bar;
// a look costs a mean loss.
const progressEvery = 200

// hooks tie a loop to its stage: progress, private losses, and
// checkpoints from which an interrupted run continues bit for bit.
func hooks(env *pipeline.Env, every int) (train.Hooks, error) {
	h := train.Hooks{ProgressEvery: progressEvery, CheckpointEvery: every,
		Progress: func(p train.Progress) {
			env.Progress(int64(p.Step), int64(p.Steps))
			env.Metric("loss", p.Loss)
		},
		Resumed:    func(p train.Progress) { env.Resumed(int64(p.Step), int64(p.Steps)) },
		Checkpoint: func(state []byte) error { return saveCheckpoint(env, state) },
		Unusable: func() {
			env.Log.Warn("the checkpoint of an interrupted attempt cannot be used; training starts at its beginning and draws " +
				"the same noise, which costs nothing")
		},
	}
	f, err := env.Restore("checkpoint")
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer f.Close()
	if h.Resume, err = io.ReadAll(f); err != nil {
		h.Resume = []byte{} // cannot be used: a disk that fails to read it gives the same as one that damaged it
	}
	return h, nil
}

func saveCheckpoint(env *pipeline.Env, state []byte) error {
	f, err := env.Create("checkpoint")
	if err != nil {
		return err
	}
	_, err = f.Write(state)
	return errors.Join(err, f.Close()) // after a failed write Close leaves the checkpoint before
}
