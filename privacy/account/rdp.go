package account

import (
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// RDP adds Renyi divergences order by order (Mironov 2017) and converts the sum
// at the best order. The zero value uses the improved conversion and searches
// the real orders; it is never above the same conversion on any grid.
type RDP struct {
	Conversion Conversion
	Orders     []float64 // a fixed grid instead, every order above 1
}

// Name returns "rdp".
func (RDP) Name() string { return "rdp" }

// Epsilon returns the smallest proven epsilon at delta, in nats.
func (r RDP) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	best, err := r.epsilon(r.Name(), events, adjacency, delta)
	return best.epsilon, err
}

// Delta returns the smallest proven delta at epsilon.
func (r RDP) Delta(events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	return r.delta(r.Name(), events, adjacency, epsilon)
}

// optimum is where a conversion ended; order is +Inf for the pure bound.
type optimum struct {
	epsilon, order float64
	releases       []release
}

func checkDelta(delta float64) error {
	if !(delta >= 0 && delta <= 1) {
		return fmt.Errorf("delta: is %v, must be in [0, 1]", delta)
	}
	return nil
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 0) {
		return fmt.Errorf("epsilon: is %v, must be at least 0", epsilon)
	}
	return nil
}

func (r RDP) epsilon(name string, events []privacy.Event, adjacency privacy.Adjacency, delta float64) (optimum, error) {
	releases, err := compile(name, events, adjacency)
	if err = errors.Join(err, checkDelta(delta)); err != nil {
		return optimum{}, err
	}
	left := delta - totalDelta(releases)
	switch {
	case delta == 1 || left == 0 && totalPure(releases) == 0:
		return optimum{releases: releases}, nil
	case left < 0:
		return optimum{math.Inf(1), math.Inf(1), releases}, nil
	}
	eps, order := r.minimise(releases, func(a, rdp float64) float64 {
		if left == 0 {
			return math.Inf(1)
		}
		return r.Conversion.epsilon(a, rdp, left)
	})
	if pure := totalPure(releases); pure <= eps && r.Orders == nil {
		eps, order = pure, math.Inf(1)
	}
	return optimum{privacy.ProvenEpsilon(math.Max(0, eps)), order, releases}, nil
}

func (r RDP) delta(name string, events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	releases, err := compile(name, events, adjacency)
	if err = errors.Join(err, checkEpsilon(epsilon)); err != nil {
		return 0, err
	}
	added := totalDelta(releases)
	if totalPure(releases) <= epsilon && r.Orders == nil {
		return added, nil
	}
	logDelta, _ := r.minimise(releases, func(a, rdp float64) float64 {
		if math.IsInf(rdp, 1) {
			return rdp
		}
		return r.Conversion.logDelta(a, rdp, epsilon)
	})
	return privacy.ProvenDelta(added + bitmath.Exp(math.Min(0, logDelta))), nil
}

// minimise finds the best order of f(alpha, sum of divergences).
func (r RDP) minimise(releases []release, f func(alpha, rdp float64) float64) (value, order float64) {
	at := func(a float64) float64 { return f(a, totalAt(releases, a)) }
	if r.Orders != nil {
		return least(r.Orders, at)
	}
	value, order = leastReal(at)
	if !allConvex(releases) {
		if v, o := least(DefaultOrders(), at); v < value {
			value, order = v, o
		}
	}
	return value, order
}

// Divergence returns the bound on the Renyi divergence of the composition as a
// function of the order, above 1. An event with a delta of its own has none.
func Divergence(events []privacy.Event, adjacency privacy.Adjacency) (func(alpha float64) float64, error) {
	releases, err := compile("rdp", events, adjacency)
	for _, r := range releases {
		if r.delta > 0 {
			return nil, compiler{accountant: "rdp"}.unsupported(r.path, "an event with a delta of its own has no Renyi divergence at any order")
		}
	}
	return func(alpha float64) float64 { return totalAt(releases, alpha) }, err
}
