// Package account bounds the privacy loss of events: Renyi (rdp), zero-
// concentrated (zcdp), moments, advanced and basic composition, all over the
// same events as privacy/pld and each with an error that wraps
// privacy.ErrUnsupported where nothing is proven.
//
// Every number that this package returns is an upper bound that a theorem
// stands behind; the arithmetic of papers that is none lives in
// privacy/published.
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

// minimise finds the best order of f(alpha, sum of divergences), which grows with the sum.
func (r RDP) minimise(releases []release, f func(alpha, rdp float64) float64) (value, order float64) {
	if r.Orders != nil {
		return least(r.Orders, func(a float64) float64 { return f(a, totalAt(releases, a)) })
	}
	if allConvex(releases) {
		d := &divergences{at: func(a float64) float64 { return totalAt(releases, a) }}
		return leastReal(func(a float64) float64 { return f(a, d.value(a)) },
			func(a float64) float64 { return f(a, d.floor(a)) })
	}
	valueAt := func(a float64) float64 { return f(a, totalAt(releases, a)) }
	value, order = leastReal(valueAt, nothingKnown)
	if v, o := least(DefaultOrders(), valueAt); v < value {
		value, order = v, o
	}
	return value, order
}

// divergences computes exact divergences, which never fall with the order.
type divergences struct {
	at             func(alpha float64) float64
	orders, values []float64 // that were computed
}

func (d *divergences) value(alpha float64) float64 {
	v := d.at(alpha)
	d.orders, d.values = append(d.orders, alpha), append(d.values, v)
	return v
}

// floor returns a lower bound on the divergence: the largest one that was computed of a smaller order, less a millionth
// for rounding.
func (d *divergences) floor(alpha float64) float64 {
	most := 0.0
	for i, a := range d.orders {
		if a < alpha {
			most = math.Max(most, d.values[i])
		}
	}
	return most * (1 - 1e-6)
}

// Divergence returns the bound on the Renyi divergence of the composition as a
// function of the order, above 1. An event with a delta of its own has none.
func Divergence(events []privacy.Event, adjacency privacy.Adjacency) (func(alpha float64) float64, error) {
	releases, err := compile("rdp", events, adjacency)
	for _, r := range releases {
		if r.delta > 0 {
			return nil, compiler{accountant: "rdp"}.unsupported(r.path,
				"an event with a delta of its own has no Renyi divergence at any order")
		}
	}
	return func(alpha float64) float64 { return totalAt(releases, alpha) }, err
}

// logAddExp returns ln(e^a + e^b).
func logAddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsInf(a, 1) {
		return a
	}
	return a + bitmath.Log1p(bitmath.Exp(b-a))
}

// logComb returns ln of the binomial coefficient of real n and integer k.
func logComb(n, k float64) float64 {
	a := bitmath.Lgamma(n + 1)
	b := bitmath.Lgamma(k + 1)
	c := bitmath.Lgamma(n - k + 1)
	return a - b - c
}

// logExcess returns ln((1+y)^alpha - 1 - alpha*y) for y >= -1 and alpha > 1, which is
// not negative (Bernoulli). The moment of a likelihood ratio 1+y of mean 1 is 1
// plus the mean of this excess, so that tiny divergences keep their digits.
// logOnePlus is ln(1+y), which stays finite where y overflows.
func logExcess(alpha, y, logOnePlus float64) float64 {
	if math.Abs(y) < 0.1 && math.Abs(alpha*y) < 0.5 {
		return bitmath.Log(excessSeries(alpha, y))
	}
	t := alpha * logOnePlus
	if t > 600 {
		return t
	}
	return bitmath.Log(bitmath.Expm1(t) - float64(alpha*y))
}

// excessSeries sums the binomial series from its second term.
func excessSeries(alpha, y float64) float64 {
	term := float64(alpha * (alpha - 1) / 2 * y * y)
	sum := term
	for k := 3.0; k < 60; k++ {
		term = float64(term * ((alpha - k + 1) / k * y))
		sum += term
		if math.Abs(term) <= 1e-17*math.Abs(sum) {
			break
		}
	}
	return sum
}

// renyi turns ln E[(1+y)^alpha - 1] into the Renyi divergence of order alpha.
func renyi(alpha, logMomentExcess float64) float64 {
	if math.IsInf(logMomentExcess, 1) {
		return math.Inf(1)
	}
	if logMomentExcess > 36 {
		return logMomentExcess / (alpha - 1)
	}
	return bitmath.Log1p(bitmath.Exp(logMomentExcess)) / (alpha - 1)
}

// Moments is the moments accountant (Abadi et al. 2016, theorem 2): the log
// moment at integer lambda is lambda times the Renyi divergence of order
// lambda+1, converted by the classic formula. The moments themselves are exact.
type Moments struct {
	MaxLambda int // 0 means 32, as published
}

// Name returns "moments".
func (Moments) Name() string { return "moments" }

func (m Moments) rdp() RDP {
	top := m.MaxLambda
	if top == 0 {
		top = 32
	}
	return RDP{Classic, IntegerOrders(2, top+1)}
}

// Epsilon returns the least epsilon over lambda.
func (m Moments) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	best, err := m.rdp().epsilon(m.Name(), events, adjacency, delta)
	return best.epsilon, err
}

// Delta returns the least delta over lambda.
func (m Moments) Delta(events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	return m.rdp().delta(m.Name(), events, adjacency, epsilon)
}
