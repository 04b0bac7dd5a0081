package mixture

import (
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/published"
)

// published is the arithmetic of the paper's programs, which know one adjacency: replace_one.
// The sizes of strata are a release more of the same accountant; the paper adds .01 for the size
// of one class under Laplace noise of scale 100.
func (s *Mixture) published(h pipeline.Header, l *layout, rate float64) *pipeline.Published {
	if h.Terms.Adjacency != privacy.ReplaceOne || h.Stability != pipeline.Rows(1) {
		return nil // it is about one row that is replaced
	}
	return &pipeline.Published{
		Method: "Jälkö et al. 2021: twice the add_remove epsilon at half of delta, Renyi orders below 500, classic conversion; its batches, of a fixed size without replacement, count as Poisson samples",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			phases := []published.Phase{{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: int64(s.Steps)}}
			if len(l.stratify) > 0 {
				phases = append(phases, published.Phase{SamplingRate: 1, NoiseMultiplier: s.sizesNoise(multiplier, rate), Steps: 1})
			}
			return published.Jalko(delta, phases...)
		},
	}
}
