package published

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
