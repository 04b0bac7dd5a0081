// Package latent holds the kinds that learn a private table by way of a space of codes
// under a budget.
package latent

import (
	"weir/pipeline"
	"weir/privacy/published"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{dpAutoGANKind(), dpVAEKind(), dpSYNKind(), rdpCGANKind()}
}

// publishedVAE returns the arithmetic of Tantipongpipat et al. 2021 for their baseline: the
// Renyi accountant of the sampled Gaussian, add_remove, converted by the classic
// formula. It is a bound for what runs here, not the tightest.
func publishedVAE(rate float64, steps int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "Tantipongpipat et al. 2021, DP-VAE: Renyi accountant (orders to 512), classic conversion, add_remove",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPAutoGAN(delta, published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: steps})
		},
	}
}

// publishedSYN returns their arithmetic for DP-SYN: half of delta for each phase, and the epsilons
// added, here of the noise that mixture.share gives each. The paper has the label of a row public, splits the
// rows by it and charges the labels in parallel; what runs here treats it as private,
// so the rates are the rates of all rows together.
func publishedSYN(s *DPSYN, rate float64) *pipeline.Published {
	return &pipeline.Published{
		Method: "Tantipongpipat et al. 2021, DP-SYN: a Renyi accountant a phase at half of delta, epsilons added, add_remove",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			coder, err := published.DPAutoGAN(delta/2, published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier,
				Steps: int64(s.Steps)})
			if err != nil {
				return 0, err
			}
			codes, err := published.DPAutoGAN(delta/2, published.Phase{SamplingRate: 1,
				NoiseMultiplier: s.mixtureNoise(multiplier, rate), Steps: 1})
			return coder + codes, err
		},
	}
}

// publishedRDPCGAN returns what the GANAD thesis has for RDP-CGAN: the Renyi accountant for the steps of
// the GAN alone. Its autoencoder learns from the same rows by gradients with noise and is charged nothing
// (docs/accounting.md, rdp_cgan), so that the number bounds nothing that is released. The thesis splits
// the rows by label and takes rates within a label; what runs here treats labels as private.
func publishedRDPCGAN(rate float64, steps int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "RDP-CGAN as in the GANAD thesis: Renyi accountant of the GAN alone, classic conversion, add_remove; " +
			"nothing for its autoencoder",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPAutoGAN(delta, published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: steps})
		},
	}
}
