package pld

import (
	"fmt"
	"math"

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
	at := map[string]int{}
	mu2, rho := 0.0, 0.0
	for _, l := range leaves {
		switch e := unwrap(l.event).(type) {
		case privacy.Gaussian:
			mu2 += float64(l.count) * square(b.change()/e.NoiseMultiplier)
			continue
		case privacy.ZCDP:
			rho += float64(l.count) * e.Rho
			continue
		}
		key := fmt.Sprintf("%#v", l.event)
		if l.anyOf != nil {
			key = l.path
		}
		if i, ok := at[key]; ok {
			c.parts[i].count += float64(l.count)
			continue
		}
		p, err := l.pair(b)
		if err != nil {
			return nil, err
		}
		at[key] = len(c.parts)
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
			finite += p.count * math.Log1p(-math.Min(p.pair.inf, 1))
		}
		bound += p.count * p.pair.bound
	}
	return -math.Expm1(finite), bound
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
	sd := span(parts)
	moment := func(k, t float64) float64 { return (k + logPeak(t) - math.Log(rest)) / t }
	t := tiltFor(parts, sd, moment)
	cap := moment(logM(parts, t), t) // itself a bound: Canonne, Kamath and Steinke 2020
	if cap <= 0 {
		return 0
	}
	eps := compose(parts, t, cap, c.fineness, c.lower).epsilon(rest, c.lower)
	return math.Min(eps, math.Min(cap, bound))
}

// delta returns the upper bound on delta at eps.
func (c *composition) delta(eps float64) float64 {
	if len(c.parts) == 0 {
		return gaussianDelta(c.mu, eps)
	}
	inf, bound := c.infinite()
	parts := c.finite()
	if eps >= bound || len(parts) == 0 || math.IsInf(eps, 1) {
		return inf
	}
	cost := func(k, t float64) float64 { return k - t*eps + logPeak(t) }
	t := tiltFor(parts, span(parts), cost)
	cap := math.Exp(cost(logM(parts, t), t))
	finite := math.Min(compose(parts, t, eps, c.fineness, c.lower).delta(eps, c.lower), cap)
	return math.Min(1, inf+finite)
}
