package pld

import "weir/privacy"

// Rule names the dominating pair of one event and the theorem behind it.
type Rule struct {
	Path  string
	Count int64
	Rule  string
}

// Rules returns what stands behind each event, an event of parallel parts once for
// each part that it may touch.
func (a *Accountant) Rules(events []privacy.Event, adjacency privacy.Adjacency) ([]Rule, error) {
	scenarios, err := walkAll(events, "events", 1, adjacency)
	if err != nil {
		return nil, err
	}
	var out []Rule
	seen := map[string]bool{}
	for _, s := range scenarios {
		for _, l := range s {
			if !seen[l.path] {
				seen[l.path] = true
				path := l.path
				if l.anyOf == nil {
					path += "." + privacy.Name(l.event)
				}
				out = append(out, Rule{path, l.count, l.rule(adjacency)})
			}
		}
	}
	return out, nil
}

func (l leaf) rule(adjacency privacy.Adjacency) string {
	if l.anyOf != nil {
		return "largest divergence of the parallel parts at every order"
	}
	switch e := l.event.(type) {
	case privacy.PoissonSampled:
		return sampledRule(e, adjacency)
	case privacy.SampledWithoutReplacement:
		return "sample of fixed size: mixture for orders of at least 1, its swap below (Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022)"
	}
	return plainRule(l.event)
}

func sampledRule(e privacy.PoissonSampled, adjacency privacy.Adjacency) string {
	switch {
	case e.SamplingRate == 0:
		return "nothing is sampled"
	case e.SamplingRate == 1:
		return plainRule(e.Event)
	case adjacency == privacy.AddRemove:
		return "Poisson sample: mixture of the inner pair, both directions composed (Zhu, Dong, Wang 2022)"
	}
	switch inner := e.Event.(type) {
	case privacy.PoissonSampled:
		return sampledRule(privacy.PoissonSampled{SamplingRate: e.SamplingRate * inner.SamplingRate, Event: inner.Event}, adjacency)
	case privacy.Gaussian:
		return "Poisson-sampled Gaussian, one row exchanged: antipodal pair (Schuchardt et al. 2024)"
	case privacy.Repeated, privacy.Composed:
		return "Gaussians on one Poisson sample, one row exchanged: antipodal pair of the joined one (proof in docs/privacy.md)"
	case privacy.Laplace, privacy.DiscreteLaplace:
		return "Poisson sample, one row exchanged: mixture of the exchange pair (Balle, Barthe, Gaboardi 2018), at most the largest ratio"
	case privacy.DiscreteGaussian:
		return "Poisson sample, one row exchanged: mixture of the exchange pair (Balle, Barthe, Gaboardi 2018)"
	}
	return "Poisson sample, one row exchanged: joint convexity over the coin"
}

func plainRule(e privacy.Event) string {
	switch e.(type) {
	case privacy.Gaussian:
		return "Gaussian: exact (Balle, Wang 2018)"
	case privacy.Laplace:
		return "Laplace: exact pair, cells of a grid connected upwards (Doroshenko et al. 2022)"
	case privacy.DiscreteGaussian:
		return "discrete Gaussian: exact sum over the integers"
	case privacy.DiscreteLaplace:
		return "discrete Laplace: exact"
	case privacy.Exponential:
		return "exponential mechanism: bounded range (Dong, Durfee, Rogers 2020)"
	case privacy.ZCDP:
		return "zCDP: the best (epsilon, delta) curve that it implies (Canonne, Kamath, Steinke 2020), not tight"
	case privacy.Approximate:
		return "worst (epsilon, delta)-DP pair (Kairouz, Oh, Viswanath 2015)"
	}
	return "worst epsilon-DP pair (Kairouz, Oh, Viswanath 2015)"
}
