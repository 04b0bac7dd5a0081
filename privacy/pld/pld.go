// Package pld accounts with privacy loss distributions: the tight bound of a
// composition from the loss distributions of its parts.
//
// Every event is replaced by a pair of distributions that dominates it; pairs are
// composed by fast Fourier transform of the loss masses, tilted by e^{t loss} so
// that the epsilon or delta that is asked for lies in the bulk of the tilted law
// (an Esscher transform: errors of rounding, truncation and wrapping are then
// relative to the answer, whatever delta is). All errors go to the pessimistic
// side; Optimistic takes them to the other and so shows the gap.
//
// Sources: Koskela, Jaelkoe and Honkela 2020 and Koskela et al. 2021 (Fourier
// accountant), Gopi, Lee and Wutschitz 2021, Doroshenko et al. 2022 (connect the
// dots), Zhu, Dong and Wang 2022 (dominating pairs).
package pld

import (
	"fmt"
	"math"

	"weir/privacy"
)

// Name is how specs and commands call this accountant.
const Name = "pld"

// fineness is the relative error of epsilon that one change of grid may add: smaller
// is tighter and slower, in proportion to its root. The bound holds at any value. Two
// changes are usual.
const fineness = 1e-5

// Accountant bounds events by privacy loss distributions. It holds no state and
// may be used by several goroutines.
type Accountant struct{ fineness float64 }

var _ privacy.Accountant = (*Accountant)(nil)

// New returns an accountant.
func New() *Accountant { return &Accountant{fineness} }

// Name returns "pld".
func (a *Accountant) Name() string { return Name }

// Epsilon returns an upper bound on the least epsilon at delta, +Inf where no
// finite one exists.
func (a *Accountant) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	return a.epsilon(events, adjacency, delta, false)
}

// Optimistic returns a lower bound on the epsilon that the dominating pairs have
// at delta: Epsilon is above the tight value by at most the difference. Events
// whose pair is not attained (zcdp, exponential) may be better than both say. Where
// losses are rare and large (tiny rates with little noise) it is far too low, because
// its grid joins them with the common ones; Epsilon is not affected.
func (a *Accountant) Optimistic(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	return a.epsilon(events, adjacency, delta, true)
}

// Delta returns an upper bound on delta at epsilon.
func (a *Accountant) Delta(events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	d, err := a.Curve(events, adjacency, []float64{epsilon})
	if err != nil {
		return 0, err
	}
	return d[0], nil
}

// Curve returns upper bounds on delta at each of epsilons.
func (a *Accountant) Curve(events []privacy.Event, adjacency privacy.Adjacency, epsilons []float64) ([]float64, error) {
	for i, e := range epsilons {
		if !(e >= 0) {
			return nil, fmt.Errorf("epsilons[%d]: is %v, must be a number of at least 0", i, e)
		}
	}
	worst := make([]float64, len(epsilons))
	err := a.each(events, adjacency, false, func(c *composition) []float64 {
		out := make([]float64, len(epsilons))
		for i, e := range epsilons {
			out[i] = privacy.ProvenDelta(c.delta(e))
		}
		return out
	}, worst)
	return worst, err
}

func (a *Accountant) epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64, lower bool) (float64,
	error) {
	if !(delta >= 0 && delta <= 1) {
		return 0, fmt.Errorf("delta: is %v, must be in [0, 1]", delta)
	}
	worst := []float64{0}
	err := a.each(events, adjacency, lower, func(c *composition) []float64 {
		eps := c.epsilon(delta)
		if lower && math.IsNaN(eps) {
			eps = 0 // as a lower bound no number is nothing
		}
		return []float64{privacy.ProvenEpsilon(eps)}
	}, worst)
	return worst[0], err
}

// each raises worst to what f returns for every composition that counts: the
// scenarios of parallel events and, at the same time, both directions of a change.
func (a *Accountant) each(events []privacy.Event, adjacency privacy.Adjacency, lower bool,
	f func(*composition) []float64, worst []float64) error {
	if _, err := privacy.ParseAdjacency(string(adjacency)); err != nil {
		return err
	}
	if err := privacy.ValidateAll(events); err != nil {
		return err
	}
	scenarios, err := walkAll(events, "events", 1, adjacency)
	if err != nil {
		return err
	}
	for _, s := range scenarios {
		c, err := compile(s, builder{adjacency, lower}, a.fineness)
		if err != nil {
			return err
		}
		for _, values := range bothWays(c, f) {
			for i, v := range values {
				worst[i] = math.Max(worst[i], v)
			}
		}
	}
	return nil
}

func bothWays(c *composition, f func(*composition) []float64) [][]float64 {
	if c.symmetric() {
		return [][]float64{f(c)}
	}
	added := make(chan []float64)
	go func() { added <- f(c.swap()) }()
	removed := f(c)
	return [][]float64{removed, <-added}
}

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
		return "sample of fixed size: mixture for orders of at least 1, its swap below (Balle, Barthe, Gaboardi 2018; Zhu, " +
			"Dong, Wang 2022)"
	}
	return unsampledRule(l.event)
}

func sampledRule(e privacy.PoissonSampled, adjacency privacy.Adjacency) string {
	switch {
	case e.SamplingRate == 0:
		return "nothing is sampled"
	case e.SamplingRate == 1:
		return unsampledRule(e.Event)
	case adjacency == privacy.AddRemove:
		return "Poisson sample: mixture of the inner pair, both directions composed (Zhu, Dong, Wang 2022)"
	}
	switch inner := e.Event.(type) {
	case privacy.PoissonSampled:
		return sampledRule(privacy.PoissonSampled{SamplingRate: e.SamplingRate * inner.SamplingRate, Event: inner.Event},
			adjacency)
	case privacy.Gaussian:
		return "Poisson-sampled Gaussian, one row exchanged: antipodal pair (Schuchardt et al. 2024)"
	case privacy.Repeated, privacy.Composed:
		return "Gaussians on one Poisson sample, one row exchanged: antipodal pair of the joined one (proof in " +
			"docs/privacy.md)"
	case privacy.Laplace, privacy.DiscreteLaplace:
		return "Poisson sample, one row exchanged: mixture of the exchange pair (Balle, Barthe, Gaboardi 2018), at most " +
			"the largest ratio"
	case privacy.DiscreteGaussian:
		return "Poisson sample, one row exchanged: mixture of the exchange pair (Balle, Barthe, Gaboardi 2018)"
	}
	return "Poisson sample, one row exchanged: joint convexity over the coin"
}

func unsampledRule(e privacy.Event) string {
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
