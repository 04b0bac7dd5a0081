package votes

import (
	"weir/pipeline"
	"weir/privacy/published"
)

// published is the accounting of the paper as far as it is public: for each vote at most
// its data-independent term. The paper charges less where teachers agree, which is a
// function of private votes; only program goes by that number, and it is not shown.
func (s *PATEGAN) published() *pipeline.Published {
	switch {
	case s.Noise != "laplace":
		return nil
	case s.Program != nil && s.Program.Epsilon > 0:
		return s.publishedProgram()
	}
	votes := int64(s.Steps) * int64(s.restarts()) * int64(s.BatchSize)
	return &pipeline.Published{
		Method: "PATE-GAN, Jordon, Yoon, van der Schaar 2019: moments up to order 20, each vote at its data-independent term; the paper's own number, at most this, depends on private votes (W21)",
		Epsilon: func(scale, delta float64) (float64, error) {
			return published.PATECeiling(votes, 1/scale, delta, 20), nil
		},
	}
}
