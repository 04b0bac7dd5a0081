package account

import (
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// ZCDP adds rho (Bun, Steinke 2016): Gaussian 1/(2 s^2), an epsilon-DP release
// epsilon^2/2, an exponential mechanism epsilon^2/8 (Cesar, Rogers 2021). Sampled
// Gaussians have no finite rho.
type ZCDP struct{ Conversion Conversion }

// Name returns "zcdp".
func (ZCDP) Name() string { return "zcdp" }

// Epsilon returns the epsilon of the summed rho at delta.
func (z ZCDP) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	rho, added, err := z.total(events, adjacency)
	if err = errors.Join(err, checkDelta(delta)); err != nil {
		return 0, err
	}
	return privacy.ProvenEpsilon(z.Conversion.ZCDPEpsilon(rho, delta-added)), nil
}

// Delta returns the delta of the summed rho at epsilon.
func (z ZCDP) Delta(events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	rho, added, err := z.total(events, adjacency)
	if err = errors.Join(err, checkEpsilon(epsilon)); err != nil {
		return 0, err
	}
	return privacy.ProvenDelta(added + z.Conversion.ZCDPDelta(rho, epsilon)), nil
}

func (z ZCDP) total(events []privacy.Event, adjacency privacy.Adjacency) (rho, delta float64, err error) {
	f := &flat{compiler: newCompiler(z.Name(), adjacency)}
	pairs, err := f.all(events, adjacency)
	for _, p := range pairs {
		r, ok := p.rho()
		if !ok {
			return 0, 0, f.unsupported(p.path, "a sampled Gaussian or zCDP release has no finite rho; use rdp or pld")
		}
		if r > 0 {
			rho += float64(p.count * r)
		}
		delta += float64(p.count * p.delta)
	}
	return rho, math.Min(1, delta), err
}

// ZCDPEpsilon returns the epsilon of rho-zCDP at delta: rho + 2 sqrt(rho ln(1/delta))
// for Classic (Bun, Steinke 2016, proposition 3), the minimum over the orders for
// Improved (Canonne, Kamath, Steinke 2020, corollary 13).
func (c Conversion) ZCDPEpsilon(rho, delta float64) float64 {
	switch {
	case rho == 0 && delta >= 0 || delta >= 1:
		return 0
	case delta <= 0 || math.IsInf(rho, 1):
		return math.Inf(1)
	case c == Classic:
		return rho + float64(2*math.Sqrt(rho*bitmath.Log(1/delta)))
	}
	eps, _ := leastReal(func(a float64) float64 { return c.epsilon(a, rho*a, delta) }, nothingKnown)
	return math.Max(0, eps)
}

// ZCDPDelta returns the delta of rho-zCDP at epsilon.
func (c Conversion) ZCDPDelta(rho, epsilon float64) float64 {
	switch {
	case rho == 0 || math.IsInf(epsilon, 1):
		return 0
	case math.IsInf(rho, 1):
		return 1
	case c == Classic:
		if epsilon <= rho {
			return 1
		}
		return bitmath.Exp(-(epsilon - rho) * (epsilon - rho) / (4 * rho))
	}
	logDelta, _ := leastReal(func(a float64) float64 { return c.logDelta(a, rho*a, epsilon) }, nothingKnown)
	return bitmath.Exp(math.Min(0, logDelta))
}

// LargestRho returns the largest rho whose conversion gives (epsilon, delta).
func (c Conversion) LargestRho(epsilon, delta float64) float64 {
	if c == Classic {
		l := bitmath.Log(1 / delta)
		r := math.Sqrt(epsilon+l) - math.Sqrt(l)
		return r * r
	}
	low, high := -300.0, bitmath.Log(1+epsilon)+60
	for range 200 {
		mid := (low + high) / 2
		if c.ZCDPEpsilon(bitmath.Exp(mid), delta) <= epsilon {
			low = mid
		} else {
			high = mid
		}
	}
	return bitmath.Exp(low)
}

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

// SumOfParameters returns the sums of epsilon and delta of releases that are pure or
// approximate by themselves. One that is private only at a delta yet to be chosen,
// as a Gaussian is, is unsupported: the choice would have to be fixed ahead.
func SumOfParameters(events []privacy.Event, adjacency privacy.Adjacency) (epsilon, delta float64, err error) {
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
