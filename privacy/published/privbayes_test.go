package published

import (
	"math"

	"weir/privacy"
)

// What follows is the paper's arithmetic beyond the budget of its parts, which golden cases
// hold. No kind uses it: privbayes scores by R, not by mutual information, and composes its
// own events.

// CountScale is the Laplace scale of the counts: a histogram moves by 2 when a
// record is exchanged and by 1 when one comes or goes.
func (p PrivBayes) CountScale(adjacency privacy.Adjacency) float64 {
	_, each := p.Marginals()
	if adjacency == privacy.ReplaceOne {
		return 2 / each
	}
	return 1 / each
}

// InformationSensitivity is that of mutual information in nats under replace_one
// (lemma 4.1): binary attributes (1/n) ln n + ((n-1)/n) ln(n/(n-1)), others
// (2/n) ln((n+1)/2) + ((n-1)/n) ln((n+1)/(n-1)).
func (p PrivBayes) InformationSensitivity(binary bool) float64 {
	n := float64(p.Rows)
	if binary {
		return math.Log(n)/n + (n-1)/n*math.Log(n/(n-1))
	}
	return 2/n*math.Log((n+1)/2) + (n-1)/n*math.Log((n+1)/(n-1))
}

// Coefficient multiplies the mutual information in the exponential mechanism.
func (p PrivBayes) Coefficient(binary bool) float64 {
	_, each := p.Structure()
	return each / (2 * p.InformationSensitivity(binary))
}

// Usefulness is the theta of theta-usefulness for binary attributes: n eps2 /
// ((d-k) 2^(k+2)).
func (p PrivBayes) Usefulness() float64 {
	_, each := p.Marginals()
	return float64(p.Rows) * each / math.Pow(2, float64(p.Degree+2))
}

// Events is the proven composition: every part is pure for the stated adjacency.
func (p PrivBayes) Events() []privacy.Event {
	_, selection := p.Structure()
	_, marginal := p.Marginals()
	return []privacy.Event{
		privacy.Repeated{Count: p.Attributes - 1, Event: privacy.Exponential{Epsilon: selection}},
		privacy.Repeated{Count: p.Attributes - p.Degree, Event: privacy.Pure{Epsilon: marginal}},
	}
}

// RenyiEvents is the same with the marginals as the Laplace releases that they
// are, each of noise over sensitivity 1/epsilon; for use under add_remove, whose
// accountant adds no factor to a scale that is already over the sensitivity.
func (p PrivBayes) RenyiEvents() []privacy.Event {
	_, marginal := p.Marginals()
	events := p.Events()
	events[1] = privacy.Repeated{Count: p.Attributes - p.Degree, Event: privacy.Laplace{NoiseMultiplier: 1 / marginal}}
	return events
}
