package training

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
	"weir/train"
)

// Sampling says how a stage draws its batches of private rows.
type Sampling struct {
	Steps             int     `yaml:"steps" json:"steps" min:"1" max:"1000000000" doc:"Noisy steps: each is one Poisson sample, one clipped sum, one draw of noise."`
	ExpectedBatchSize float64 `yaml:"expected_batch_size" json:"expected_batch_size" exclusiveMin:"0" doc:"Public divisor of the noisy sum; with a public row count it sets the sampling rate."`
	SamplingRate      float64 `yaml:"sampling_rate,omitempty" json:"sampling_rate,omitempty" exclusiveMin:"0" max:"1" doc:"Probability that a row is in a step's batch; expected_batch_size over the public row count by default."`
	MaxGradNorm       float64 `yaml:"max_grad_norm" json:"max_grad_norm" exclusiveMin:"0" doc:"Bound on the L2 norm of one row's gradient over all weights."`
	NoiseMultiplier   float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise standard deviation over max_grad_norm; calibrated to the budget by default."`
}

// DPSGD is the one value from which sampler, clip, noise and event come, for a gradient
// of so many weights. Without privacy (multiplier 0) there is neither noise nor clip.
func (s Sampling) DPSGD(multiplier, rate float64, weights int) train.DPSGD {
	if multiplier == 0 {
		s.MaxGradNorm = math.Inf(1)
	}
	return train.DPSGD{MaxGradNorm: s.MaxGradNorm, NoiseMultiplier: multiplier, SamplingRate: rate,
		ExpectedBatchSize: s.ExpectedBatchSize, Steps: s.Steps, Weights: weights}
}

// NoiseBeside is the multiplier of one Gaussian release beside so much DP-SGD that has share
// of the squared privacy loss of both, mu^2 of Gaussian differential privacy. That of DP-SGD is taken from its
// limit theorem, rate^2 steps (exp(1/multiplier^2)-1) (Bu, Dong, Long, Su 2020); it divides the budget and
// bounds nothing. It is 0 without noise.
func (s Sampling) NoiseBeside(multiplier, rate, share float64) float64 {
	if multiplier == 0 {
		return 0
	}
	squares := rate * rate * float64(s.Steps) * bitmath.Expm1(math.Min(1/(multiplier*multiplier), 40))
	return math.Sqrt((1 - share) / (share * squares))
}

// Rate is the sampling rate, from public facts alone.
func (s Sampling) Rate(h pipeline.Header, ps *schema.Problems) float64 {
	switch {
	case s.SamplingRate*float64(h.Rows) > s.ExpectedBatchSize*roundingSlack:
		ps.Add("expected_batch_size", fmt.Sprintf("%g, below sampling_rate times the public row count", s.ExpectedBatchSize), "at least that: it divides the sum of a batch")
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
	effect := "the sampling rate is 1, so that every step takes every row and sampling saves no noise, and a sum over all rows is divided by more than there are"
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

// InReach is a problem where a mechanism with as much noise as its clip cannot be drawn;
// the bill finds the noise only later, and says so in other words.
func InReach(m privacy.Mechanism) error {
	var ps schema.Problems
	err := m.Check()
	if d, sampled := m.(train.DPSGD); sampled && err != nil {
		if most := d.MostBatch(); most > 0 && float64(most) < math.Floor(d.ExpectedBatchSize) {
			ps.Add("expected_batch_size", fmt.Sprintf("%g, more rows than the sum of a step over these nets can be noised for in float32", d.ExpectedBatchSize), fmt.Sprintf("at most %d", most))
			return ps.Err()
		}
	}
	if err != nil {
		ps.Add("max_grad_norm", err.Error(), "within reach of the arithmetic, as are the batch sizes")
	}
	return ps.Err()
}
