package ledger

import (
	"errors"
	"fmt"
	"math"

	"weir/privacy"
)

func (e Entry) validCap() error {
	switch c := e.Cap; {
	case c == nil:
		return nil
	case e.Filter == nil:
		return errors.New("cap: stands without a filter, must stand with the one that admitted the charge")
	case !(c.Epsilon >= 0) || math.IsInf(c.Epsilon, 1) || !(c.Delta >= 0 && c.Delta < 1):
		return fmt.Errorf("cap: is epsilon %g, delta %g, must be finite and at least 0, and delta below 1", c.Epsilon, c.Delta)
	}
	return nil
}

// LastCap returns the cap of the last charge that names one, and its line, or line
// 0. It holds for the unit and adjacency of that charge.
func LastCap(entries []Entry) (c Cap, line int) {
	for i := len(entries) - 1; i >= 0; i-- {
		if e := entries[i]; e.Cap != nil {
			return Cap{Epsilon: e.Cap.Epsilon, Delta: e.Cap.Delta, Adjacency: e.Adjacency, Unit: e.Unit, Filter: e.Filter.Name, Order: e.Filter.Order}, i + 1
		}
	}
	return Cap{}, 0
}

// Looser reports whether c promises less than before did: a larger epsilon or
// delta, another unit than persons of one column, or removals alone.
func (c Cap) Looser(before Cap) bool {
	return c.Epsilon > before.Epsilon || c.Delta > before.Delta ||
		before.Unit.Column != "" && c.Unit.Column != before.Unit.Column ||
		before.Adjacency == privacy.ReplaceOne && c.Adjacency != before.Adjacency
}

// Balance is how the last cap of a ledger stands, in epsilon at its delta.
type Balance struct {
	Cap    Cap
	Filter Filter
	Line   int     // of the charge that names the cap
	Spent  float64 // by the filter, over all charges; +Inf where nothing is proven, and Reason says why
	Left   float64 // of the cap, read the same way
	Pure   float64 // the largest pure release that the filter would still admit; 0 where it takes none
	Alike  int     // charges like the one of Line that the filter would still admit, at most MostAlike
	Reason string
}

// MostAlike is where Balance stops to count charges that fit.
const MostAlike = 1000

// BalanceOf returns nil where no charge names a cap.
func BalanceOf(entries []Entry) (*Balance, error) {
	limit, line := LastCap(entries)
	if line == 0 {
		return nil, nil
	}
	f, _, err := FilterOf(entries)
	if err != nil {
		return nil, err
	}
	r, err := newReading(entries, limit.Adjacency, limit.Unit)
	if err != nil {
		return nil, fmt.Errorf("ledger: balance: %w", err)
	}
	b := &Balance{Cap: limit, Filter: *f, Line: line}
	spent, why, err := r.cost(*f, entries)
	if err != nil || why != "" {
		b.Spent, b.Reason = math.Inf(1), why
		return b, err
	}
	b.Spent = f.epsilon(spent, limit.Delta)
	b.Left = max(0, limit.Epsilon-b.Spent)
	total := f.limit(limit.Epsilon, limit.Delta)
	b.Pure = f.largestPure(spent, total, r.pairs, limit.Epsilon)
	one, why, err := r.cost(*f, entries[line-1:line])
	if err != nil || why != "" {
		return b, err
	}
	b.Alike = alike(spent, one, total)
	return b, nil
}

// Room counts how many times the charges of bill fit again into what entries leave of the cap, at most MostAlike. known
// is false where the cap names no filter yet, or where something has no bound.
func (c Cap) Room(entries, bill []Entry) (n int, known bool, err error) {
	if c.Filter == "" || len(bill) == 0 {
		return 0, false, nil
	}
	f := Filter{Name: c.Filter, Order: c.Order}
	r, err := newReading(entries, c.Adjacency, c.Unit)
	if err != nil {
		return 0, false, err
	}
	spent, why1, err1 := r.cost(f, entries)
	one, why2, err2 := r.cost(f, bill)
	if err := errors.Join(err1, err2); err != nil || why1 != "" || why2 != "" {
		return 0, false, err
	}
	return alike(spent, one, f.limit(c.Epsilon, c.Delta)), true, nil
}

// alike counts how many times one fits into what spent leaves of the limit.
func alike(spent, one, limit Cost) (n int) {
	for n < MostAlike && spent.plus(one).within(limit) {
		spent, n = spent.plus(one), n+1
	}
	return n
}

// largestPure is the greatest epsilon, up to top, of a pure release that fits after
// what is spent, from below.
func (f Filter) largestPure(spent, limit Cost, pairs privacy.Adjacency, top float64) float64 {
	fits := func(epsilon float64) bool {
		c, err := f.cost(privacy.Pure{Epsilon: epsilon}, pairs)
		return err == nil && spent.plus(c).within(limit)
	}
	low, high := 0.0, top
	if fits(top) {
		return top
	}
	for range 60 {
		if mid := (low + high) / 2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
