package model

import (
	"fmt"

	"weir/pipeline"
	"weir/privacy"
	"weir/train"
)

// Sampling says how a stage draws its batches of private rows.
type Sampling struct {
	Steps             int     `yaml:"steps" json:"steps" min:"1" doc:"Noisy steps: each is one Poisson sample, one clipped sum, one draw of noise."`
	ExpectedBatchSize float64 `yaml:"expected_batch_size" json:"expected_batch_size" exclusiveMin:"0" doc:"Public divisor of the noisy sum; with a public row count it sets the sampling rate."`
	SamplingRate      float64 `yaml:"sampling_rate,omitempty" json:"sampling_rate,omitempty" exclusiveMin:"0" max:"1" doc:"Probability that a row joins a step; expected_batch_size over the public row count by default."`
	MaxGradNorm       float64 `yaml:"max_grad_norm" json:"max_grad_norm" exclusiveMin:"0" doc:"Bound on the L2 norm of one row's gradient over all weights."`
	NoiseMultiplier   float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise standard deviation over max_grad_norm; found from the budget where it is not given."`
}

// dpsgd is the one value from which sampler, clip, noise and event come.
func (s Sampling) dpsgd(multiplier, rate float64) train.DPSGD {
	return train.DPSGD{MaxGradNorm: s.MaxGradNorm, NoiseMultiplier: multiplier, SamplingRate: rate,
		ExpectedBatchSize: s.ExpectedBatchSize, Steps: s.Steps}
}

// rate is the sampling rate, from public facts alone.
func (s Sampling) rate(h pipeline.Header, ps *pipeline.Problems) float64 {
	switch {
	case s.SamplingRate*float64(h.Rows) > s.ExpectedBatchSize*roundingSlack:
		ps.Add("expected_batch_size", fmt.Sprintf("%g, below sampling_rate times the public row count", s.ExpectedBatchSize), "at least that: it bounds the rounding of a batch's sum")
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

// roundingSlack forgives the last digits of a rate that was computed as
// expected_batch_size over the row count.
const roundingSlack = 1 + 1e-9

// checkBatch refuses, where the row count is private, batches larger than the
// public size for which the float32 sums are bounded. It runs before anything is
// paid, and says no number.
func (s Sampling) checkBatch(rate float64, rows int) error {
	if rate*float64(rows) > s.ExpectedBatchSize*roundingSlack {
		return fmt.Errorf("expected_batch_size is below sampling_rate times the number of rows, must be at least that: it bounds the rounding of a batch's sum")
	}
	return nil
}

// group charges a mechanism on rows(c): c rows of the table may change.
func group(h pipeline.Header, ps *pipeline.Problems) int {
	if h.Stability.Spread == pipeline.SpreadShards {
		ps.Refuse("W03", "from", "a table of stability "+h.Stability.String()+": one changed unit may change a whole shard",
			"a table of stability rows(c); gs_wgan learns from shards")
		return 1
	}
	return max(1, h.Stability.N)
}

// grouped is the event of a mechanism for a change of c rows.
func grouped(e privacy.Event, c int) privacy.Event {
	g, err := privacy.Group(e, c)
	if err != nil {
		panic(fmt.Sprintf("group of %d: %v", c, err)) // DP-SGD events and positive groups are supported
	}
	return g
}

// sensitivityText is how the bill words the sensitivity of clipped sums.
func sensitivityText(norm float64, c int, adjacency privacy.Adjacency) string {
	text := fmt.Sprintf("max_grad_norm = %g", norm)
	if c > 1 {
		text = fmt.Sprintf("%d rows x %s", c, text)
	}
	if adjacency == privacy.ReplaceOne {
		return text + ", doubled by the accountant under replace_one"
	}
	return text
}
