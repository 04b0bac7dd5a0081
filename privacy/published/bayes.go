package published

import (
	"math"

	"weir/privacy"
	"weir/privacy/account"
)

// PrivBayes is the budget of Zhang et al. 2017: Beta of epsilon for the selections
// of a network of the given degree over attributes, the rest for its marginals.
type PrivBayes struct {
	Rows, Attributes, Degree int64
	Epsilon, Beta            float64
}

// Structure is the epsilon of all selections and of one.
func (p PrivBayes) Structure() (all, each float64) {
	all = float64(p.Beta * p.Epsilon)
	return all, all / float64(p.Attributes-1)
}

// Marginals is the epsilon of all noisy joint marginals and of one.
func (p PrivBayes) Marginals() (all, each float64) {
	all = float64((1 - p.Beta) * p.Epsilon)
	return all, all / float64(p.Attributes-p.Degree)
}

// Total is what the paper adds up: selections and marginals, each pure for exchanged
// records (replace_one) where noise and scores are for those.
func (p PrivBayes) Total() float64 {
	structure, _ := p.Structure()
	marginals, _ := p.Marginals()
	return structure + marginals
}

// NAPSUMQ is the noise of Raisa et al. 2023: queries marginal counts released
// together under replace_one, whose L2 sensitivity is sqrt(2 queries).
func NAPSUMQ(epsilon, delta float64, queries int64) (sensitivity, sigma float64) {
	sensitivity = math.Sqrt(2 * float64(queries))
	return sensitivity, sensitivity * account.GaussianNoise(epsilon, delta)
}

// Twinify is the event that twinify's Fourier accountant charges under replace_one:
// Poisson batches. WithoutReplacement is the one for the batches that it draws;
// the inner multiplier is over the distance 2C of an exchange.
func Twinify(q, noiseMultiplier float64, steps int64) []privacy.Event {
	return Events(Phase{q, noiseMultiplier, steps})
}

// TwinifyWithoutReplacement is the proven event of batches of batch of rows.
func TwinifyWithoutReplacement(batch, rows int64, noiseMultiplier float64, steps int64) []privacy.Event {
	return []privacy.Event{privacy.Repeated{Count: steps, Event: privacy.SampledWithoutReplacement{SampleSize: batch, Population: rows,
		Event: privacy.Gaussian{NoiseMultiplier: noiseMultiplier / 2}}}}
}
