package account

import (
	"fmt"
	"math"

	"weir/privacy"
)

// This file has what a privacy filter adds up: one number for each charge, fixed
// by the charge alone. See docs/design/ledger.md.

// Epsilon converts a Renyi divergence at one order to epsilon at delta in (0, 1].
func (c Conversion) Epsilon(alpha, rdp, delta float64) float64 { return c.epsilon(alpha, rdp, delta) }

// FilterOrders returns the orders that a filter may be fixed at: DefaultOrders,
// and above 64 eight to the octave up to 2^20.
func FilterOrders() []float64 {
	var orders []float64
	for _, a := range DefaultOrders() {
		if a < 64 {
			orders = append(orders, a)
		}
	}
	for octave := 64.0; octave < 1<<20; octave *= 2 {
		for i := range 8 {
			orders = append(orders, octave*(1+float64(float64(i)/8)))
		}
	}
	return orders
}

// SquaredMu returns the sum of mu^2 of unsampled Gaussian releases, mu being the
// distance that one change moves the sum over the standard deviation of the noise.
// Anything but gaussian, repeated and composed is unsupported.
func SquaredMu(events []privacy.Event, adjacency privacy.Adjacency) (float64, error) {
	if _, err := privacy.ParseAdjacency(string(adjacency)); err != nil {
		return 0, err
	}
	if err := privacy.ValidateAll(events); err != nil {
		return 0, err
	}
	c := newCompiler("gaussian", adjacency)
	sum := 0.0
	for i, e := range events {
		p, err := c.precision(fmt.Sprintf("events[%d]", i), e)
		if err != nil {
			return 0, err
		}
		sum += p
	}
	return sum * c.unit * c.unit, nil
}

func (c compiler) precision(path string, e privacy.Event) (float64, error) {
	path += "." + privacy.Name(e)
	switch e := e.(type) {
	case privacy.Gaussian:
		return 1 / (e.NoiseMultiplier * e.NoiseMultiplier), nil
	case privacy.Repeated:
		p, err := c.precision(path+".event", e.Event)
		return float64(e.Count) * p, err
	case privacy.Composed:
		sum := 0.0
		for i, inner := range e.Events {
			p, err := c.precision(fmt.Sprintf("%s.events[%d]", path, i), inner)
			if err != nil {
				return 0, err
			}
			sum += p
		}
		return sum, nil
	}
	return 0, c.unsupported(path, "only unsampled Gaussian releases have a mu")
}

// Plain returns the sums of epsilon and delta of releases that are pure or
// approximate by themselves. One that is private only at a delta yet to be chosen,
// as a Gaussian is, is unsupported: the choice would have to be fixed ahead.
func Plain(events []privacy.Event, adjacency privacy.Adjacency) (epsilon, delta float64, err error) {
	f := &flat{newCompiler("basic", adjacency)}
	releases, err := f.all(events, adjacency)
	for _, r := range releases {
		if r.needsDelta() && r.rate > 0 {
			return 0, 0, f.unsupported(r.path, "it has no epsilon and delta of its own")
		}
		if r.pure > 0 {
			epsilon += float64(r.count * r.pure)
		}
		delta += float64(r.count * r.delta)
	}
	return epsilon, math.Min(1, delta), err
}
