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
		return release{path, count, pureCurve(samplePure(e.Epsilon, q),
			"amplified (epsilon, delta) (Balle, Barthe, Gaboardi 2018)"), q * e.Delta}
	}
	return release{path, count, pureCurve(e.Epsilon, "sampling lowers delta only"), q * e.Delta}
}

// sampled returns the curve of a Poisson sample of e where a sharp one is known.
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
		return curve{g.addRemove, mixPure(q, math.Inf(1)), "Poisson-subsampled Gaussian, exact (Mironov, Talwar, Zhang 2019)",
			true}
	}
	return curve{g.replaceOne, mixPure(q, math.Inf(1)), "Poisson-subsampled Gaussian, antipodal pair, exact (Schuchardt " +
		"et al. 2024)", true}
}

func (c compiler) sampledLaplace(q, b float64) curve {
	if c.adjacency == privacy.ReplaceOne || b == 0 || 1/b > 600 {
		return c.sampledPure(q, 1/b)
	}
	return curve{func(a float64) float64 { return sampledLaplaceAt(b, q, a) }, samplePure(1/b, q),
		"Poisson-subsampled Laplace, exact (Zhu, Dong, Wang 2022)", true}
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

// mixPure returns the divergence at order infinity where any unsampled one is pure.
func mixPure(q, pure float64) float64 {
	if q == 0 {
		return 0
	}
	return pure
}

// couple bounds a Poisson sample of any mechanism: both runs share the coin,
// the likelihood moment is jointly convex, so that it is at most
// 1-q + q times the moment of the mechanism.
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
func (c compiler) withoutReplacement(path string, e privacy.SampledWithoutReplacement, count float64) ([]release,
	error) {
	if c.adjacency != privacy.ReplaceOne {
		return nil, c.unsupported(path, "sampling without replacement is bounded under replace_one only: its population is "+
			"public")
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
	return curve{w.cumulantAt, mixPure(gamma, math.Min(inner.pure, samplePure(inner.pure, gamma))), rule, false}
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

// maxSampleOrder bounds the sums of the without-replacement theorems, whose
// cost grows with the order. Orders above it are not used, which is no loss of
// soundness. Theorem 27 is tried up to order 256.
const (
	maxSampleOrder = 1024
	maxTightOrder  = 256
)

// withoutReplacement bounds the Renyi divergence of a mechanism on a sample of
// a fraction gamma drawn without replacement, under replacement of one record
// (Wang, Balle, Kasiviswanathan 2019).
type withoutReplacement struct {
	gamma float64
	inner curve               // under replacement of a member of the sample
	tight func(l int) float64 // ln of the l-th forward difference, or nil
	memo  map[int]float64     // cumulants (alpha-1)*rdp by order
	diffs map[int]float64     // tight, by l
}

func newWithoutReplacement(gamma float64, inner curve, tight func(int) float64) *withoutReplacement {
	return &withoutReplacement{gamma, inner, tight, map[int]float64{}, map[int]float64{}}
}

// cumulantAt interpolates the cumulant (alpha-1)*rdp, which is convex in the order, linearly
// between integers (their corollary 10); below 2 this is the divergence at 2.
func (w *withoutReplacement) cumulantAt(alpha float64) float64 {
	switch {
	case w.gamma == 0:
		return 0
	case w.gamma == 1:
		return w.inner.at(alpha)
	case alpha > maxSampleOrder:
		return math.Inf(1)
	}
	low := int(math.Floor(alpha))
	high := int(math.Ceil(alpha))
	if low == high {
		return w.cumulant(low) / (alpha - 1)
	}
	t := alpha - float64(low)
	return (float64((1-t)*w.cumulant(low)) + float64(t*w.cumulant(high))) / (alpha - 1)
}

// cumulant returns the smaller of theorem 9 and, for a tight curve, theorem 27.
func (w *withoutReplacement) cumulant(alpha int) float64 {
	if alpha <= 1 {
		return 0
	}
	if v, ok := w.memo[alpha]; ok {
		return v
	}
	v := w.bound(alpha, w.theorem9)
	if w.tight != nil && alpha <= maxTightOrder {
		v = math.Min(v, w.bound(alpha, w.theorem27))
	}
	w.memo[alpha] = v
	return v
}

// bound returns ln(1 + sum over j of C(alpha,j) gamma^j term(j)), or the cumulant of
// the inner mechanism where that is less: a mixture over samples that both
// tables share is never worse than the worst of them (quasi-convexity).
func (w *withoutReplacement) bound(alpha int, term func(j int) float64) float64 {
	sum := math.Inf(-1)
	for j := 2; j <= alpha; j++ {
		sum = logAddExp(sum, logComb(float64(alpha), float64(j))+float64(float64(j)*bitmath.Log(w.gamma))+term(j))
	}
	if sum <= 36 {
		sum = bitmath.Log1p(bitmath.Exp(sum))
	}
	return math.Min(sum, float64(alpha-1)*w.inner.at(float64(alpha)))
}

// theorem9: min{4(e^eps(2)-1), e^eps(2) min{2, (e^eps(inf)-1)^2}} for j = 2,
// e^((j-1)eps(j)) min{2, (e^eps(inf)-1)^j} above.
func (w *withoutReplacement) theorem9(j int) float64 {
	r := w.inner.at(float64(j))
	t := float64(float64(j-1)*r) + math.Min(math.Ln2, float64(j)*logExpm1(w.inner.pure))
	if j == 2 {
		t = math.Min(t, bitmath.Log(4)+logExpm1(r))
	}
	return t
}

// theorem27 replaces the terms above j = 2 by 4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))).
func (w *withoutReplacement) theorem27(j int) float64 {
	t := w.theorem9(j)
	if j > 2 {
		t = math.Min(t, bitmath.Log(4)+float64(0.5*(w.difference(j/2*2)+w.difference((j+1)/2*2))))
	}
	return t
}

func (w *withoutReplacement) difference(l int) float64 {
	v, ok := w.diffs[l]
	if !ok {
		v = w.tight(l)
		w.diffs[l] = v
	}
	return v
}

// logExpm1 returns ln(e^x - 1).
func logExpm1(x float64) float64 {
	if x > 36 {
		return x
	}
	return bitmath.Log(bitmath.Expm1(x))
}
