package account

import (
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// leastRate is the smallest Poisson rate that is computed with. It bounds smaller
// ones: at rate q < r the pair is q/r times that at rate r plus 1-q/r times two equal
// distributions, and the likelihood moment, of at least 1 and 1 of equal ones, is
// jointly convex. Package pld does the same.
const leastRate = 1e-30

// poisson amplifies e by Poisson sampling at rate q. Releases on one sample
// share its coin, so that they are joined first.
func (c compiler) poisson(path string, q float64, e privacy.Event, count float64) ([]release, error) {
	inner := path + ".event"
	if p, ok := e.(privacy.PoissonSampled); ok { // two coins in a row are one
		return c.poisson(inner+"."+privacy.Name(e), q*p.SamplingRate, p.Event, count)
	}
	if q == 1 {
		return c.event(inner, e, count)
	}
	if q > 0 {
		q = math.Max(q, leastRate)
	}
	if a, ok := e.(privacy.Approximate); ok {
		return []release{c.poissonApproximate(path, q, a, count)}, nil
	}
	if k, ok := c.sampled(q, e); ok {
		return []release{{path, count, k, 0}}, nil
	}
	r, err := c.event(inner, e, 1)
	if err != nil {
		return nil, err
	}
	if totalDelta(r) > 0 {
		return nil, c.unsupported(inner, "a Poisson sample of a composition with an approximate event")
	}
	return []release{{path, count, couple(q, totalCurve(r)), 0}}, nil
}

// poissonApproximate: (ln(1+q(e^eps-1)), q delta) under add_remove (Balle, Barthe,
// Gaboardi 2018, theorem 8); under replace_one only delta shrinks, because the
// event says nothing about samples without the record.
func (c compiler) poissonApproximate(path string, q float64, e privacy.Approximate, count float64) release {
	if c.adjacency == privacy.AddRemove {
		return release{path, count, pureCurve(samplePure(e.Epsilon, q), "amplified (epsilon, delta) (Balle, Barthe, Gaboardi 2018)"), q * e.Delta}
	}
	return release{path, count, pureCurve(e.Epsilon, "sampling lowers delta only"), q * e.Delta}
}

// sampled is the curve of a Poisson sample of e where a sharp one is known.
func (c compiler) sampled(q float64, e privacy.Event) (curve, bool) {
	addRemove := c.adjacency == privacy.AddRemove
	if s, ok := jointGaussian(e); ok {
		return c.sampledGaussian(q, s), true
	}
	switch e := e.(type) {
	case privacy.DiscreteGaussian:
		if addRemove {
			g := sampledGaussian{q, e.NoiseMultiplier, true}
			return curve{g.addRemove, mixPure(q, math.Inf(1)), "Poisson-subsampled discrete Gaussian, exact sum", true}, true
		}
	case privacy.Laplace:
		return c.sampledLaplace(q, e.NoiseMultiplier), true
	case privacy.DiscreteLaplace:
		return c.sampledPure(q, 1/e.NoiseMultiplier), true
	case privacy.RandomizedResponse:
		if addRemove {
			return c.sampledPure(q, e.Epsilon), true
		}
	case privacy.Exponential:
		if addRemove {
			return c.sampledPure(q, e.Epsilon), true
		}
	case privacy.Pure:
		if addRemove {
			return c.sampledPure(q, e.Epsilon), true
		}
	}
	return curve{}, false
}

// mostNoise is what a sampled Gaussian is computed with at most: beyond it squares
// leave the range of floats, and less noise bounds more.
const mostNoise = 1e10

func (c compiler) sampledGaussian(q, s float64) curve {
	g := sampledGaussian{q, math.Min(s, mostNoise), false}
	if c.adjacency == privacy.AddRemove {
		return curve{g.addRemove, mixPure(q, math.Inf(1)), "Poisson-subsampled Gaussian, exact (Mironov, Talwar, Zhang 2019)", true}
	}
	return curve{g.replaceOne, mixPure(q, math.Inf(1)), "Poisson-subsampled Gaussian, antipodal pair, exact (Schuchardt et al. 2024)", true}
}

func (c compiler) sampledLaplace(q, b float64) curve {
	if c.adjacency == privacy.ReplaceOne || b == 0 || 1/b > 600 {
		return c.sampledPure(q, 1/b)
	}
	return curve{func(a float64) float64 { return sampledLaplaceAt(b, q, a) }, samplePure(1/b, q), "Poisson-subsampled Laplace, exact (Zhu, Dong, Wang 2022)", true}
}

// sampledPure amplifies a mechanism that is eps-DP under add_remove: the pair
// thinned from randomized response (Zhu, Dong, Wang 2022), or under replace_one
// the largest ratio (1-q+q e^eps)/(1-q+q e^-eps).
func (c compiler) sampledPure(q, eps float64) curve {
	up := samplePure(eps, q)
	if c.adjacency == privacy.ReplaceOne {
		return pureCurve(up-bitmath.Log1p(q*bitmath.Expm1(-eps)), "amplified epsilon for an exchange")
	}
	if eps > 30 {
		return pureCurve(up, "amplified epsilon (Balle, Barthe, Gaboardi 2018)")
	}
	return bothWays(thin(response(eps), q), up, "Poisson sample of the worst epsilon-DP pair (Zhu, Dong, Wang 2022)")
}

// mixPure is the divergence at order infinity where any unsampled one is pure.
func mixPure(q, pure float64) float64 {
	if q == 0 {
		return 0
	}
	return pure
}

// couple bounds a Poisson sample of any mechanism: both runs share the coin,
// the likelihood moment is jointly convex, so that it is at most
// 1-q + q times that of the mechanism.
func couple(q float64, inner curve) curve {
	return curve{pure: mixPure(q, inner.pure), rule: "joint convexity over the sampling coin", convex: inner.convex,
		at: func(a float64) float64 {
			if q == 0 {
				return 0
			}
			return samplePure((a-1)*inner.at(a), q) / (a - 1)
		}}
}

// jointGaussian returns the multiplier of the one Gaussian release that Gaussian
// releases on the same sample amount to, each of which may depend on those before:
// 1/s^2 adds up. For an exchange under Poisson sampling package pld proves it.
func jointGaussian(e privacy.Event) (s float64, ok bool) {
	p, ok := precision(e)
	return 1 / math.Sqrt(p), ok
}

func precision(e privacy.Event) (float64, bool) {
	switch e := e.(type) {
	case privacy.Gaussian:
		return 1 / (e.NoiseMultiplier * e.NoiseMultiplier), true
	case privacy.Repeated:
		p, ok := precision(e.Event)
		return float64(e.Count) * p, ok
	case privacy.Composed:
		sum := 0.0
		for _, inner := range e.Events {
			p, ok := precision(inner)
			if !ok {
				return 0, false
			}
			sum += p
		}
		return sum, len(e.Events) > 0
	}
	return 0, false
}

// withoutReplacement joins the releases of one sample, then amplifies.
func (c compiler) withoutReplacement(path string, e privacy.SampledWithoutReplacement, count float64) ([]release, error) {
	if c.adjacency != privacy.ReplaceOne {
		return nil, c.unsupported(path, "sampling without replacement is bounded under replace_one only: its population is public")
	}
	gamma := float64(e.SampleSize) / float64(e.Population)
	if a, ok := e.Event.(privacy.Approximate); ok {
		k := pureCurve(samplePure(a.Epsilon, gamma), "amplified (epsilon, delta) (Balle, Barthe, Gaboardi 2018)")
		return []release{{path, count, k, gamma * a.Delta}}, nil
	}
	if at := samplingInside(e.Event); at != "" {
		return nil, c.unsupported(path+".event", "%s inside a sample without replacement", at)
	}
	c.unit = 1 // the inner multiplier is over the replace-one sensitivity already
	r, err := c.event(path+".event", e.Event, 1)
	if err != nil {
		return nil, err
	}
	if totalDelta(r) > 0 {
		return nil, c.unsupported(path+".event", "a sample of a composition with an approximate event")
	}
	return []release{{path, count, c.sampleCurve(gamma, e.Event, totalCurve(r)), 0}}, nil
}

func (c compiler) sampleCurve(gamma float64, e privacy.Event, inner curve) curve {
	var tight func(int) float64
	rule := "sampling without replacement, theorem 9 (Wang, Balle, Kasiviswanathan 2019)"
	if s, ok := jointGaussian(e); ok && s > 0 {
		tight = func(l int) float64 { return gaussianMoment(s, l) }
		rule = "sampling without replacement, theorems 9 and 27 (Wang, Balle, Kasiviswanathan 2019)"
	}
	w := newWithoutReplacement(gamma, inner, tight)
	return curve{w.at, mixPure(gamma, math.Min(inner.pure, samplePure(inner.pure, gamma))), rule, false}
}

// samplingInside names the first sampling event in e, or "".
func samplingInside(e privacy.Event) string {
	inner := []privacy.Event{}
	switch e := e.(type) {
	case privacy.PoissonSampled, privacy.SampledWithoutReplacement:
		return privacy.Name(e)
	case privacy.Repeated:
		inner = append(inner, e.Event)
	case privacy.Composed:
		inner = e.Events
	case privacy.Parallel:
		inner = e.Events
	}
	for _, i := range inner {
		if at := samplingInside(i); at != "" {
			return at
		}
	}
	return ""
}
