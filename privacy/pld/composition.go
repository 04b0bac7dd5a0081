package pld

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// composition is a list of parts in one direction of a change.
type composition struct {
	parts    []part
	mu       float64 // set instead of parts where all are unsampled Gaussians
	fineness float64
	lower    bool
}

// compile joins equal leaves and builds their pairs. Gaussians that are not
// sampled become one, zCDP events too (their rhos add: Bun and Steinke 2016).
func compile(leaves []leaf, b builder, fineness float64) (*composition, error) {
	c := &composition{fineness: fineness, lower: b.lower}
	places := map[string]int{}
	mu2, rho := 0.0, 0.0
	for _, l := range leaves {
		switch e := unwrap(l.event).(type) {
		case privacy.Gaussian:
			mu2 += float64(float64(l.count) * square(b.change()/e.NoiseMultiplier))
			continue
		case privacy.ZCDP:
			rho += float64(float64(l.count) * e.Rho)
			continue
		}
		key := fmt.Sprintf("%#v", l.event)
		if l.anyOf != nil {
			key = l.path
		}
		if i, ok := places[key]; ok {
			c.parts[i].count += float64(l.count)
			continue
		}
		p, err := l.pair(b)
		if err != nil {
			return nil, err
		}
		places[key] = len(c.parts)
		c.parts = append(c.parts, part{p, float64(l.count)})
	}
	c.close(mu2, rho)
	return c, nil
}

// unwrap returns the event of a Poisson sample at rate 1.
func unwrap(e privacy.Event) privacy.Event {
	if s, ok := e.(privacy.PoissonSampled); ok && s.SamplingRate == 1 {
		return s.Event
	}
	return e
}

func (l leaf) pair(b builder) (*pair, error) {
	if l.anyOf == nil {
		return b.leaf(l.event, l.path)
	}
	var ps []*pair
	for _, x := range l.anyOf {
		p, err := b.leaf(x.event, x.path)
		if err != nil {
			return nil, err
		}
		if ps = append(ps, p); !p.symmetric {
			return nil, unsupported(l.path, "it is repeated and has different branches of which some are sampled")
		}
	}
	if !b.lower {
		return maxOf(ps), nil
	}
	worst := ps[0] // any branch at every use is a lower bound on the worst
	for _, p := range ps {
		if p.logM(1) > worst.logM(1) {
			worst = p
		}
	}
	return worst, nil
}

// close adds the joint Gaussian and the joint zCDP event.
func (c *composition) close(mu2, rho float64) {
	if rho > 0 {
		p := zcdp(rho)
		c.parts = append(c.parts, part{p, 1})
	}
	if len(c.parts) == 0 {
		c.mu = math.Sqrt(mu2)
		return
	}
	if mu2 > 0 {
		c.parts = append(c.parts, part{gaussian(math.Sqrt(mu2), c.lower), 1})
	}
}

func (c *composition) symmetric() bool {
	for _, p := range c.parts {
		if !p.pair.symmetric {
			return false
		}
	}
	return true
}

func (c *composition) swap() *composition {
	s := *c
	s.parts = nil
	for _, p := range c.parts {
		s.parts = append(s.parts, part{p.pair.swap(), p.count})
	}
	return &s
}

// infinite returns the probability of an infinite loss, and the largest finite one.
func (c *composition) infinite() (mass, bound float64) {
	finite := 0.0
	for _, p := range c.parts {
		if p.pair.inf > 0 {
			finite += float64(p.count * bitmath.Log1p(-math.Min(p.pair.inf, 1)))
		}
		bound += float64(p.count * p.pair.bound)
	}
	return -bitmath.Expm1(finite), bound
}

// finite returns the parts that have a loss other than 0 at all.
func (c *composition) finite() []part {
	var out []part
	for _, p := range c.parts {
		if n := len(p.pair.atoms); n > 0 && (p.pair.atoms[0].loss != 0 || p.pair.largest() != 0) {
			out = append(out, p)
		}
	}
	return out
}

// epsilon returns the bound on the least epsilon at delta.
func (c *composition) epsilon(delta float64) float64 {
	if len(c.parts) == 0 {
		return gaussianEpsilon(c.mu, delta)
	}
	inf, bound := c.infinite()
	parts := c.finite()
	rest := delta - inf
	switch {
	case rest < 0:
		return math.Inf(1)
	case rest == 0 || len(parts) == 0:
		return bound
	}
	parts, lost := cut(parts, farTail*rest)
	if !c.lower {
		rest -= lost
	}
	sd := span(parts)
	moment := func(k, t float64) float64 { return (k + logPeak(t) - bitmath.Log(rest)) / t }
	t := tiltFor(parts, sd, moment)
	cap := moment(logM(parts, t), t) // itself a bound: Canonne, Kamath and Steinke 2020
	if cap <= 0 {
		return 0
	}
	return c.best(c.refine(parts, sd, t, cap, rest), cap, bound)
}

// best returns the smallest of bounds that hold each by itself. One that came out as no
// number, because some power of e left the range of floats, bounds nothing: the
// others remain. The lower mode has one bound, which then is nothing, 0.
func (c *composition) best(bounds ...float64) float64 {
	least := math.Inf(1)
	for _, b := range bounds {
		switch {
		case !math.IsNaN(b):
			least = math.Min(least, b)
		case c.lower:
			return 0
		}
	}
	return least
}

// farTail is the part of delta that the far tails may hold.
const farTail = 1e-6

// cut takes the largest losses from the parts, with a mass of at most budget over
// all uses, which it returns: an upper bound adds it to delta, a lower one drops
// it. A strong tilt would otherwise blow up tails that no delta of interest sees.
func cut(parts []part, budget float64) (retained []part, lost float64) {
	for _, p := range parts {
		short, sum := *p.pair, 0.0
		share := budget / (p.count * float64(len(parts)))
		n := len(short.atoms)
		for n > 1 && sum+short.atoms[n-1].p <= share {
			n--
			sum += short.atoms[n].p
		}
		short.atoms = short.atoms[:n]
		lost += float64(sum * p.count)
		retained = append(retained, part{&short, p.count})
	}
	return retained, lost
}

// refine composes at order t. Where the moment bound eps is far from tight, the
// doubt at order t weighs much at the answer: then it composes again at the order
// that suits the answer found.
func (c *composition) refine(parts []part, sd, t, eps, delta float64) float64 {
	best := math.Inf(1)
	if c.lower {
		best = 0
	}
	for range 4 {
		s := compose(parts, t, eps, c.fineness, c.lower)
		if s == nil {
			break
		}
		eps = s.epsilon(delta, c.lower)
		if c.lower {
			best = math.Max(best, eps)
		} else {
			best = math.Min(best, eps)
		}
		if weight := bitmath.Exp(s.scale-float64(t*best)) * s.peak() / delta; weight < 1e-5 || math.IsInf(best, 1) {
			break
		}
		eps = best
		t = tiltFor(parts, sd, func(k, t float64) float64 { return k - float64(t*best) + logPeak(t) })
	}
	return best
}

// delta returns the upper bound on delta at eps.
func (c *composition) delta(eps float64) float64 {
	if len(c.parts) == 0 {
		return gaussianDelta(c.mu, eps)
	}
	inf, bound := c.infinite()
	parts := c.finite()
	if eps >= bound || len(parts) == 0 || inf >= 1 || math.IsInf(eps, 1) {
		return inf
	}
	first := c.finiteDelta(parts, eps)
	parts, lost := cut(parts, farTail*first)
	return c.best(1, inf+c.best(first, lost+c.finiteDelta(parts, eps)))
}

// finiteDelta returns the upper bound on delta at eps of the finite losses.
func (c *composition) finiteDelta(parts []part, eps float64) float64 {
	cost := func(k, t float64) float64 { return k - float64(t*eps) + logPeak(t) }
	t := tiltFor(parts, span(parts), cost)
	cap := bitmath.Exp(cost(logM(parts, t), t))
	s := compose(parts, t, eps, c.fineness, c.lower)
	if s == nil {
		return c.best(cap, 1)
	}
	return c.best(s.delta(eps, c.lower), cap, 1)
}
