package account

import (
	"fmt"
	"math"

	"weir/privacy"
)

// release is count uses of a mechanism with a divergence curve and, for
// approximate events, a delta that is added to the total each time.
type release struct {
	path  string
	count float64
	curve curve
	delta float64
}

// compiler turns events into releases. unit is how far a contribution of bound
// 1 moves: 1 under add_remove, 2 under replace_one.
type compiler struct {
	accountant string
	adjacency  privacy.Adjacency
	unit       float64
}

func compile(accountant string, events []privacy.Event, adjacency privacy.Adjacency) ([]release, error) {
	if _, err := privacy.ParseAdjacency(string(adjacency)); err != nil {
		return nil, err
	}
	if err := privacy.ValidateAll(events); err != nil {
		return nil, err
	}
	c := compiler{accountant, adjacency, 1}
	if adjacency == privacy.ReplaceOne {
		c.unit = 2
	}
	return c.events("events", events, 1)
}

func (c compiler) unsupported(path, format string, args ...any) error {
	return &privacy.UnsupportedError{Accountant: c.accountant, Path: path, Reason: fmt.Sprintf(format, args...)}
}

func (c compiler) events(path string, events []privacy.Event, count float64) ([]release, error) {
	var all []release
	for i, e := range events {
		r, err := c.event(fmt.Sprintf("%s[%d]", path, i), e, count)
		if err != nil {
			return nil, err
		}
		all = append(all, r...)
	}
	return all, nil
}

func (c compiler) event(path string, e privacy.Event, count float64) ([]release, error) {
	path += "." + privacy.Name(e)
	switch e := e.(type) {
	case privacy.Repeated:
		return c.event(path+".event", e.Event, count*float64(e.Count))
	case privacy.Composed:
		return c.events(path+".events", e.Events, count)
	case privacy.Parallel:
		return c.parallel(path, e, count)
	case privacy.PoissonSampled:
		return c.poisson(path, e.SamplingRate, e.Event, count)
	case privacy.SampledWithoutReplacement:
		return c.withoutReplacement(path, e, count)
	case privacy.Approximate:
		return []release{{path, count, pureCurve(e.Epsilon, "(epsilon, delta) given; delta added"), e.Delta}}, nil
	}
	return []release{{path, count, c.simple(e), 0}}, nil
}

// simple returns the curve of one unsampled release.
func (c compiler) simple(e privacy.Event) curve {
	switch e := e.(type) {
	case privacy.Gaussian:
		return zcdpCurve(rho(e.NoiseMultiplier/c.unit), "Gaussian: alpha/(2 s^2) (Mironov 2017)")
	case privacy.DiscreteGaussian:
		return zcdpCurve(rho(e.NoiseMultiplier/c.unit), "discrete Gaussian: alpha/(2 s^2) (Canonne, Kamath, Steinke 2020)")
	case privacy.ZCDP:
		return zcdpCurve(e.Rho, "zCDP given: alpha rho (Bun, Steinke 2016)")
	case privacy.Laplace:
		b := e.NoiseMultiplier / c.unit
		return curve{func(a float64) float64 { return laplaceAt(b, a) }, 1 / b, "Laplace (Mironov 2017)", true}
	case privacy.DiscreteLaplace:
		return c.discreteLaplace(e.NoiseMultiplier)
	case privacy.Exponential:
		return exponentialCurve(e.Epsilon)
	case privacy.RandomizedResponse:
		return pureCurve(e.Epsilon, "randomized response, exact (Mironov 2017)")
	}
	return pureCurve(e.(privacy.Pure).Epsilon, "worst epsilon-DP pair (Kairouz, Oh, Viswanath 2015)")
}

// rho returns 1/(2 s^2).
func rho(s float64) float64 { return 1 / (2 * s * s) }

func zcdpCurve(rho float64, rule string) curve {
	pure := math.Inf(1)
	if rho == 0 {
		pure = 0
	}
	return curve{pure: pure, rule: rule, convex: true, at: func(a float64) float64 {
		if rho == 0 {
			return 0
		}
		return a * rho
	}}
}

// discreteLaplace moves by 1 under add_remove, where its pair is randomized
// response. Under replace_one a shift of 2 dominates two shifts of 1 in
// different coordinates: their hockey-stick curves agree at the ends, and at
// a = 1 the total variation is 1-r against (1-r)/(1+r), r = e^(-1/b).
func (c compiler) discreteLaplace(b float64) curve {
	if b == 0 || c.unit/b > 600 {
		return pureCurve(c.unit/b, "discrete Laplace as a pure release")
	}
	return atomCurve(geometricAtoms(b, int(c.unit)), c.unit/b, "discrete Laplace, exact")
}

// touched returns how many parts of a parallel event a change of one unit reaches:
// under replace_one the old unit's part and the new one's.
func (c compiler) touched() int {
	if c.adjacency == privacy.ReplaceOne {
		return 2
	}
	return 1
}

// parallel takes the worst part at every order, under replace_one the two worst,
// each charged for a replacement. A use may have other worst parts than the next:
// the sum over uses of the worst at an order bounds that too.
func (c compiler) parallel(path string, e privacy.Parallel, count float64) ([]release, error) {
	parts := make([][]release, len(e.Events))
	out := release{path: path, count: count, curve: curve{rule: "largest of the parts", convex: true}}
	if c.touched() == 2 {
		out.curve.rule = "the two largest of the parts"
	}
	for i, part := range e.Events {
		r, err := c.event(fmt.Sprintf("%s.events[%d]", path, i), part, 1)
		if err != nil {
			return nil, err
		}
		parts[i] = r
		out.curve.convex = out.curve.convex && allConvex(r)
	}
	worst := func(f func([]release) float64) float64 { return largest(parts, c.touched(), f) }
	out.delta, out.curve.pure = worst(totalDelta), worst(totalPure)
	out.curve.at = func(a float64) float64 {
		return worst(func(r []release) float64 { return totalAt(r, a) })
	}
	return []release{out}, nil
}

// largest returns the sum of the n largest values of f over the parts, none negative.
func largest(parts [][]release, n int, f func([]release) float64) float64 {
	first, second := 0.0, 0.0
	for _, p := range parts {
		v := f(p)
		second = math.Max(second, math.Min(first, v))
		first = math.Max(first, v)
	}
	if n == 1 {
		return first
	}
	return first + second
}

// totalAt adds the divergences. What came out as no number proves nothing.
func totalAt(releases []release, alpha float64) float64 {
	sum := 0.0
	for _, r := range releases {
		v := r.curve.at(alpha)
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		sum += float64(r.count * math.Max(0, v))
	}
	return sum
}

func totalPure(releases []release) float64 {
	sum := 0.0
	for _, r := range releases {
		if r.curve.pure > 0 {
			sum += float64(r.count * r.curve.pure)
		}
	}
	return sum
}

// totalDelta adds the deltas of approximate events.
func totalDelta(releases []release) float64 {
	sum := 0.0
	for _, r := range releases {
		sum += float64(r.count * r.delta)
	}
	return math.Min(1, sum)
}

func allConvex(releases []release) bool {
	for _, r := range releases {
		if !r.curve.convex {
			return false
		}
	}
	return true
}

// totalCurve returns the composition of the releases as one curve.
func totalCurve(releases []release) curve {
	return curve{func(a float64) float64 { return totalAt(releases, a) }, totalPure(releases), "composition",
		allConvex(releases)}
}
