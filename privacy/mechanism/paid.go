package mechanism

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"weir/privacy"
)

// planned returns the mechanism of a handle, from which every parameter of a use
// comes. Another kind than M is not what was paid for.
func planned[M privacy.Mechanism](h *privacy.Handle) (m M, err error) {
	m, ok := h.Mechanism().(M)
	if !ok {
		return m, fmt.Errorf("%w: %s is planned as %T, is used as %s", privacy.ErrUses, h.Spend(), h.Mechanism(), reflect.TypeFor[M]())
	}
	return m, m.Check()
}

// kept is what went in, for a probe that looks on after the caller goes on.
func kept[T any](u *privacy.Use, in []T) []T {
	if u.Probed() {
		return slices.Clone(in)
	}
	return in
}

// repeated is the event of n uses.
func repeated(n int64, e privacy.Event) privacy.Event {
	if n > 1 {
		return privacy.Repeated{Count: n, Event: e}
	}
	return e
}

// checkUses is for the number of planned uses.
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
		return fmt.Errorf("sensitivity: is %g (add_remove) and %g (replace_one), both must be positive", m.AddRemove, m.ReplaceOne)
	}
	if d := m.Under(a); !(d > 0x1p-500 && d < 0x1p500) {
		return fmt.Errorf("sensitivity: is %g under %s, must be positive and finite", d, a)
	}
	return nil
}

// HistogramMoves is the L2 sensitivity of one histogram over disjoint cells: a unit
// is in one cell, so a replaced one leaves a cell and joins another.
func HistogramMoves() Moves { return Moves{1, math.Sqrt2} }
