package gan

import (
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/published"
)

// publishedDPWGAN is what UCLANESL's program would print for these settings: the
// moments accountant with 32 orders, every weight tensor of the critic charged
// as a release with a coin of its own, add_remove. It is no bound for tensors
// that share a batch (docs/accounting.md section 4); this kind is charged for all
// tensors together, once.
func publishedDPWGAN(rate float64, steps, tensors int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "UCLANESL, NIST challenge 2018: moments accountant (32 orders), one release a weight tensor",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			phase := published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: tensors * steps}
			return account.Moments{MaxLambda: 32}.Epsilon(published.Events(phase), privacy.AddRemove, delta)
		},
	}
}

// publishedDPGAN is the arithmetic of the GANAD thesis for its DP-GAN, as far as it can be known: the
// Renyi accountant of one class, since the classes are apart, add_remove. What runs here
// has one rate for all rows; at equal classes and twice their batch it is that of each. It bounds the critics under
// add_remove, whatever the labels are, and not the noisy sizes of labels.
func publishedDPGAN(rate float64, steps int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "GANAD thesis, DP-GAN: Renyi accountant of one class (classic conversion), add_remove",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPAutoGAN(delta, published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: steps})
		},
	}
}

// publishedBaseline is what DP-auto-GAN's authors compute for a DP-WGAN of given noise
// (their baseline): one release a step, log moments up to 32. It bounds
// what this kind runs with one clip over all weights, under add_remove.
func publishedBaseline(rate float64, steps int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "DP-WGAN as accounted by Tantipongpipat et al. 2021: moments accountant (32 orders), one release a step",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPWGAN(delta, published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: steps})
		},
	}
}

// publishedGSWGAN is what the script of Chen et al. 2020 prints for these
// settings: theorem 9 at rate 1/k for every row of every batch. For query sample under a
// public schedule it is a valid bound, though not the tightest; for query batch it is
// none; for query mean the paper has no accountant.
func publishedGSWGAN(s *GSWGAN, critics int) *pipeline.Published {
	if s.Query == "mean" {
		return nil
	}
	return &pipeline.Published{
		Method: "GS-WGAN, Chen et al. 2020: Wang, Balle, Kasiviswanathan 2019, theorem 9, classic conversion",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return s.published(critics, multiplier).Published(delta)
		},
	}
}
