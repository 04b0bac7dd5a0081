package pld

import (
	"math"

	"weir/privacy"
)

// maxDiscreteNoise bounds the integers that a discrete Gaussian is summed over.
const maxDiscreteNoise = 1e5

// builder makes the dominating pairs of single events.
type builder struct {
	adjacency privacy.Adjacency
	lower     bool
}

func unsupported(path, reason string) error {
	return &privacy.UnsupportedError{Accountant: Name, Path: path, Reason: reason}
}

// change returns by how many bounds on one contribution a sum moves: the factor two
// that replacing one record brings (see privacy.Event).
func (b builder) change() float64 {
	if b.adjacency == privacy.ReplaceOne {
		return 2
	}
	return 1
}

// leaf returns the pair for the removal (or replacement) of a record; the pair
// for its addition is the same one swapped.
func (b builder) leaf(e privacy.Event, path string) (*pair, error) {
	switch e := e.(type) {
	case privacy.PoissonSampled:
		return b.poisson(e, path+".poisson_sampled")
	case privacy.SampledWithoutReplacement:
		return b.fixed(e, path+".sampled_without_replacement")
	}
	return b.unsampled(e, b.change(), path)
}

// unsampled returns the pair of an event that samples nothing, for a change of the
// sum by change bounds.
func (b builder) unsampled(e privacy.Event, change float64, path string) (*pair, error) {
	switch e := e.(type) {
	case privacy.Gaussian:
		return gaussian(change/e.NoiseMultiplier, b.lower), nil
	case privacy.Laplace:
		return laplace(change/e.NoiseMultiplier, b.lower), nil
	case privacy.DiscreteLaplace:
		if e.NoiseMultiplier == 0 {
			return revealing(), nil
		}
		return discreteLaplace(e.NoiseMultiplier, int(change)), nil
	case privacy.DiscreteGaussian:
		return b.discreteGaussian(e.NoiseMultiplier, int(change), path)
	case privacy.Exponential:
		return boundedRange(e.Epsilon), nil
	case privacy.RandomizedResponse:
		return pure(e.Epsilon), nil
	case privacy.Pure:
		return pure(e.Epsilon), nil
	case privacy.Approximate:
		return approximate(e.Epsilon, e.Delta), nil
	case privacy.ZCDP:
		return zcdp(e.Rho), nil
	}
	p, err := precision(e, path)
	if err != nil {
		return nil, err
	}
	return gaussian(change*math.Sqrt(p), b.lower), nil
}

func (b builder) discreteGaussian(s float64, shift int, path string) (*pair, error) {
	switch {
	case float64(shift)/math.Max(s, 1e-300) > 60:
		return revealing(), nil
	case s > maxDiscreteNoise:
		return nil, unsupported(path+".discrete_gaussian", "noise multipliers above 1e5 are not summed")
	}
	return discreteGaussian(s, shift, b.lower), nil
}

// poisson returns the pair of a Poisson sampled event.
//
// add_remove: (qP + (1-q)Q, Q) for any inner pair (Zhu, Dong and Wang 2022,
// theorem 11). replace_one, Gaussians: the antipodal pair (see precision).
// replace_one, other noise: given that the record is in the sample the two outputs
// differ by a replacement, given that only one table's record is they differ by a
// removal; advanced joint convexity
// (Balle, Barthe and Gaboardi 2018) bounds the divergence at orders of at least 1
// by the divergence of (qP + (1-q)Q, Q) for the replacement pair, which dominates the
// removal pair for noise added to sums. replace_one, other events: nothing is known
// of an output without the record, the coin alone is shared (coupled). Two samples
// in a row are one.
func (b builder) poisson(e privacy.PoissonSampled, path string) (*pair, error) {
	if inner, ok := e.Event.(privacy.PoissonSampled); ok {
		return b.poisson(privacy.PoissonSampled{SamplingRate: e.SamplingRate * inner.SamplingRate, Event: inner.Event},
			path+".event.poisson_sampled")
	}
	if e.SamplingRate = b.rate(e.SamplingRate); e.SamplingRate == 0 {
		return pure(0), nil
	}
	in := path + ".event"
	base, err := b.inner(e.Event, b.change(), in)
	if err != nil || e.SamplingRate == 1 {
		return base, err
	}
	if b.adjacency == privacy.AddRemove {
		return base.mixP(e.SamplingRate), nil
	}
	switch inner := e.Event.(type) {
	case privacy.Gaussian, privacy.Repeated, privacy.Composed:
		p, err := precision(inner, in)
		return antipodal(math.Sqrt(p), e.SamplingRate, b.lower), err
	case privacy.Laplace:
		return exchanged(base, e.SamplingRate, 1/inner.NoiseMultiplier), nil
	case privacy.DiscreteLaplace:
		return exchanged(base, e.SamplingRate, 1/inner.NoiseMultiplier), nil
	case privacy.DiscreteGaussian:
		return base.mixP(e.SamplingRate).symmetrise(), nil
	}
	return base.coupled(e.SamplingRate), nil
}

// leastRate is the smallest Poisson rate that is computed with: squares of losses
// and of their masses at it are far from underflow, and no delta of interest sees it.
const leastRate = 1e-30

// rate returns q, or what bounds a smaller one: above leastRate, below nothing.
//
// Proof that a larger rate r bounds q: a coin of rate q is one of rate q/r before one
// of rate r. So the pair at rate q is q/r times that at r plus 1-q/r times two equal
// distributions, whatever the inner pair, one-sided or antipodal. Hockey-stick
// divergence is jointly convex, the divergence of equal distributions is max(0, 1-a) and no other
// is below it: at every order a, H_q <= (q/r) H_r + (1-q/r) max(0, 1-a) <= H_r.
func (b builder) rate(q float64) float64 {
	switch {
	case q >= leastRate || q == 0:
		return q
	case b.lower:
		return 0
	}
	return leastRate
}

// exchanged returns the pair of a sample of a release that is e-DP for a removal:
// base mixed, and at no order above the pure release of the largest ratio
// (1-q+q e^e)/(1-q+q e^-e). The true divergence is below both and convex in
// e^epsilon, hence below the hull of their minimum.
func exchanged(base *pair, q, e float64) *pair {
	mixture := base.mixP(q).symmetrise()
	top := mixed(q, e) - mixed(q, -e)
	if !(top < 600) || len(mixture.atoms) == 0 {
		return mixture
	}
	limit := pure(top)
	eps := []float64{0}
	for _, a := range mixture.atoms {
		if a.loss > eps[len(eps)-1]+1e-12 && a.loss < top {
			eps = append(eps, a.loss)
		}
	}
	eps = append(eps, top)
	delta := limit.divergences(eps)
	for i, d := range mixture.divergences(eps) {
		delta[i] = math.Min(delta[i], d)
	}
	atoms, inf := hull(eps, delta)
	p := &pair{atoms: atoms, inf: inf, bound: top}
	return p.symmetrise()
}

// inner returns the pair of what runs on a sample.
func (b builder) inner(e privacy.Event, change float64, path string) (*pair, error) {
	switch e.(type) {
	case privacy.PoissonSampled, privacy.SampledWithoutReplacement, privacy.Parallel:
		return nil, unsupported(path+"."+privacy.Name(e), "it runs inside a sampled event")
	}
	return b.unsampled(e, change, path)
}

// fixed returns the pair of an event on a sample of fixed size under replace_one:
// the divergence of (gP + (1-g)Q, Q) at orders of at least 1 and of its swap below
// (Balle, Barthe and Gaboardi 2018, theorem 11; Zhu, Dong and Wang 2022). The
// inner multiplier is over the replace-one sensitivity, so nothing is doubled.
func (b builder) fixed(e privacy.SampledWithoutReplacement, path string) (*pair, error) {
	if b.adjacency != privacy.ReplaceOne {
		return nil, unsupported(path, "a sample of fixed size from a public population is defined under replace_one only")
	}
	base, err := b.inner(e.Event, 1, path+".event")
	switch rate := float64(e.SampleSize) / float64(e.Population); {
	case err != nil:
		return nil, err
	case rate == 0:
		return pure(0), nil
	case rate == 1:
		return base, nil
	default:
		return base.mixP(rate).symmetrise(), nil
	}
}
