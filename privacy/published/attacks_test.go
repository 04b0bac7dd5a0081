package published

import (
	"math"

	"weir/privacy"
	"weir/privacy/account"
)

// EncoderAttack is what one record can do to a decoder step when the encoder has
// no noise: the clipped gradients of a batch all turn around.
type EncoderAttack struct {
	Sensitivity    float64 // of the decoder sum, in clipping bounds; claimed is 1
	Separation     float64 // of the two hypotheses, in standard deviations
	TotalVariation float64
}

// NoiselessEncoder is the attack of docs/accounting.md section 2.1.
func NoiselessEncoder(noiseMultiplier float64, batch int64) EncoderAttack {
	s := 2 * float64(batch)
	d := s / noiseMultiplier
	return EncoderAttack{s, d, math.Erf(d / (2 * math.Sqrt2))}
}

// RoundedUp is epsilon as the paper prints it, to two decimals.
func RoundedUp(epsilon float64) float64 { return math.Ceil(epsilon*100) / 100 }

// SharedCoin compares one generator step of a batch at a Renyi order: with a coin
// for every sample, as the script charges, and with one for the batch, as it runs.
func SharedCoin(q, noiseMultiplier float64, batch int64, alpha float64) (independent, shared float64) {
	independent = float64(batch) * account.PoissonGaussian(q, noiseMultiplier, alpha, privacy.AddRemove)
	shared = account.PoissonGaussian(q, noiseMultiplier/math.Sqrt(float64(batch)), alpha, privacy.AddRemove)
	return independent, shared
}
