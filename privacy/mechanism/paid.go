// Package mechanism releases counts, selections, quantiles, bounds, open
// category sets and rounds of a filter.
//
// Each mechanism is a plain value, a privacy.Mechanism: the plan holds it, the bill
// takes its event, and a payer opens it. It is drawn through the *privacy.Handle that
// comes of that and in no other way: ReleaseCounts, Select, ReleaseQuantile,
// ReleaseBounds, ReleasePartitions and, for a filter, ReleaseIntegers and Choose. Every parameter of a draw is
// the handle's, so what is charged and what is done cannot disagree; each call takes
// the next use, so a loop has fresh noise each time and cannot go on for longer than
// planned. Concurrent calls on one handle would take uses in no fixed order: a run
// that is to be replayed calls one after the other.
//
// What is drawn is exact: integers and rational probabilities, or, where said, a
// normal law or a float choice with a stated error.
package mechanism

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"weir/privacy"
)

// ErrNoBounds means that too few numbers came in for the noise: a released fact.
var ErrNoBounds = errors.New("no bin reaches the threshold of")

// planned returns the mechanism of a handle, from which every parameter of a use
// comes. Another kind than M is not what was paid for.
func planned[M privacy.Mechanism](h *privacy.Handle) (m M, err error) {
	m, ok := h.Mechanism().(M)
	if !ok {
		return m, fmt.Errorf("%w: %s is planned as %T, is used as %s", privacy.ErrUses, h.Spend(), h.Mechanism(),
			reflect.TypeFor[M]())
	}
	return m, m.Check()
}

// inputFor returns what went in, for a probe that looks on after the caller goes on.
func inputFor[T any](u *privacy.Use, in []T) []T {
	if u.Probed() {
		return slices.Clone(in)
	}
	return in
}

// repeated returns the event of n uses.
func repeated(n int64, e privacy.Event) privacy.Event {
	if n > 1 {
		return privacy.Repeated{Count: n, Event: e}
	}
	return e
}

// checkUses checks the number of planned uses.
func checkUses(what string, n int64) error {
	if n < 1 {
		return fmt.Errorf("%s: is %d, must be at least 1", what, n)
	}
	return nil
}

func checkAdjacency(a privacy.Adjacency) error {
	_, err := privacy.ParseAdjacency(string(a))
	return err
}

// Moves bounds how far what goes into a mechanism moves when one unit comes or goes,
// and when one unit is replaced by another. +Inf says that no bound is proven.
type Moves struct{ AddRemove, ReplaceOne float64 }

// Under returns the bound under an adjacency.
func (m Moves) Under(a privacy.Adjacency) float64 {
	if a == privacy.AddRemove {
		return m.AddRemove
	}
	return m.ReplaceOne
}

// check wants a bound under the adjacency that is planned for.
func (m Moves) check(a privacy.Adjacency) error {
	if !(m.AddRemove > 0 && m.ReplaceOne > 0) {
		return fmt.Errorf("sensitivity: is %g (add_remove) and %g (replace_one), both must be positive", m.AddRemove,
			m.ReplaceOne)
	}
	if d := m.Under(a); !(d > 0x1p-500 && d < 0x1p500) {
		return fmt.Errorf("sensitivity: is %g under %s, must be positive and finite", d, a)
	}
	return nil
}

// HistogramMoves returns the L2 sensitivity of one histogram over disjoint cells: a unit
// is in one cell, so a replaced one leaves a cell and joins another.
func HistogramMoves() Moves { return Moves{1, math.Sqrt2} }

// inRounds is a filter whose rounds add Gaussian noise, each for the square of its
// sensitivity over its noise: GaussianFilter or ZCDPFilter.
type inRounds interface {
	privacy.Filter
	plannedFor() privacy.Adjacency
	// silent reports that nothing is added: the price is an infinite epsilon.
	silent() bool
}

func checkFilter(what string, multiplier float64, a privacy.Adjacency) error {
	if multiplier != 0 && !(multiplier >= 0x1p-20 && multiplier <= 0x1p40) {
		return fmt.Errorf("%s: noise multiplier: is %g, must be between 2^-20 and 2^40, or 0 for none", what, multiplier)
	}
	return checkAdjacency(a)
}

// free is what a round costs of an infinite total.
const free = 1

// round takes a Gaussian round of the planned filter. It is refused where it would
// pass Total, and before that where its parameters have no proof.
func round(h *privacy.Handle, d Moves, sigma float64) (*privacy.Use, privacy.Round, error) {
	m, err := planned[inRounds](h)
	if err != nil {
		return nil, privacy.Round{}, err
	}
	if err := d.checkRound(m.plannedFor()); err != nil {
		return nil, privacy.Round{}, err
	}
	bound := d.Under(m.plannedFor())
	cost := bound / sigma * (bound / sigma)
	if m.silent() {
		cost = free
	}
	u, err := h.Round(cost)
	return u, privacy.Round{Sensitivity: privacy.Sensitivity{Norm: privacy.L2, Bound: bound}, Cost: cost}, err
}

// checkRound wants of a round what the filters' proofs use: under replace_one that
// adding a unit moves no further than exchanging one.
func (m Moves) checkRound(a privacy.Adjacency) error {
	if err := m.check(a); err != nil {
		return err
	}
	if a == privacy.ReplaceOne && m.AddRemove > m.ReplaceOne {
		return fmt.Errorf("sensitivity: is %g under add_remove, must be at most %g, that of replace_one", m.AddRemove,
			m.ReplaceOne)
	}
	return nil
}

// ReleaseIntegers adds integer Gaussian noise of deviation sigma to values of L2 sensitivity d, and takes
// d^2/sigma^2 of the filter's total. Counts of units in disjoint cells have HistogramMoves. Sigma may be 0 only for a
// filter of multiplier 0.
func ReleaseIntegers(h *privacy.Handle, values []int64, d Moves, sigma float64) ([]int64, error) {
	m, _ := h.Mechanism().(inRounds)
	none := m != nil && m.silent()
	if none && sigma != 0 {
		return nil, fmt.Errorf("sigma: is %g, must be 0, as the filter's noise is", sigma)
	}
	if err := checkSigma("sigma", sigma); err != nil && !none {
		return nil, err
	}
	u, in, err := round(h, d, sigma)
	if err != nil {
		return nil, err
	}
	in.In = inputFor(u, values)
	out := clamped(values)
	if none {
		return privacy.Release(u, in, out), nil
	}
	u.Stream("integers", 0).IntegerGaussian(out, sigma)
	return privacy.Release(u, in, out), nil
}
