package ledger

import (
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/account"
)

// filter returns the one that c admits by: the ledger's, once a capped charge has fixed
// it, else the one that c names.
func (c Cap) filter(entries []Entry) (Filter, error) {
	fixed, line, err := FilterOf(entries)
	if err != nil {
		return Filter{}, err
	}
	if fixed == nil {
		return c.fresh()
	}
	if c.Filter != "" && c.Filter != fixed.Name || c.Order != 0 && c.Order != fixed.Order {
		message := c.Filter
		if c.Order != 0 {
			message = Filter{"rdp", c.Order}.String()
		}
		return Filter{}, fmt.Errorf("ledger: cap: filter: is %s, must be %s as in line %d; choosing after looking at what "+
			"was released would break the bound: %w", message, fixed, line, ErrFilter)
	}
	return *fixed, nil
}

// fresh returns the filter of a ledger that has none yet.
func (c Cap) fresh() (Filter, error) {
	f := Filter{c.Filter, c.Order}
	if f.Name == "" {
		f.Name = "rdp"
	}
	if f.Name == "rdp" && f.Order == 0 {
		// Most Gaussian noise, whose divergence is proportional to the order.
		nothing, gaussian := func(float64) float64 { return 0 }, func(order float64) float64 { return order }
		f.Order = bestOrder(c, math.Inf(1), nothing, gaussian)
	}
	if err := f.valid(); err != nil {
		return f, fmt.Errorf("ledger: cap: %w", err)
	}
	if f.Name != "basic" && c.Delta == 0 {
		return f, fmt.Errorf("ledger: cap: delta: is 0, must be above 0 under the filter %s", f.Name)
	}
	return f, nil
}

// bestOrder returns the order at which most copies of a bill fit under the cap after
// what is spent; among orders that admit none, the one with most room.
// None is above top.
func bestOrder(c Cap, top float64, spent, bill func(order float64) float64) float64 {
	best, copies := 0.0, 0.0
	room, most := min(2, top), math.Inf(-1)
	for _, order := range account.FilterOrders() {
		if order > top {
			break
		}
		left := c.Epsilon - conversion(order, c.Delta) - spent(order)
		if left > most {
			room, most = order, left
		}
		if n := left / bill(order); n > copies {
			best, copies = order, n
		}
	}
	if copies == 0 {
		return room
	}
	return best
}

// Fix returns limit with the filter that the ledger has; where it has none yet and
// the filter is rdp without an order, with the order at which the bill of the
// first capped run costs least of the cap, up to the order of Gaussian noise. Sampled
// Gaussians need lower orders; higher ones serve pure releases alone and
// would shut out every later Gaussian. It must be called before that run draws
// noise: the bill is public, and so is the order.
func (l *Ledger) Fix(limit Cap, bill ...Charge) (Cap, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return limit.fix(l.entries, func() ([]Entry, error) { return l.chain(bill, admission{}) })
}

// fix returns Fix after the charges spent; the bill is asked for where its order is.
func (c Cap) fix(spent []Entry, bill func() ([]Entry, error)) (Cap, error) {
	if err := c.valid(); err != nil {
		return c, fmt.Errorf("ledger: cap: %w", err)
	}
	f, err := c.filter(spent)
	if err != nil {
		return c, err
	}
	if fixed, _, err := FilterOf(spent); err != nil || fixed != nil || f.Name != "rdp" || c.Order != 0 {
		c.Filter, c.Order = f.Name, f.Order
		return c, err
	}
	added, err := bill()
	if err != nil {
		return c, err
	}
	c.Filter = f.Name
	c.Order, err = c.orderFor(spent, added)
	return c, err
}

// Admit does Fix and Check for charges that are in no file yet, and so have no place in a
// chain: the filter that would add them up after what is spent, and nil or an
// *OverBudgetError. Only Append decides.
func (c Cap) Admit(spent, planned []Entry) (Filter, error) {
	fixed, err := c.fix(spent, func() ([]Entry, error) { return planned, nil })
	if err != nil {
		return Filter{}, err
	}
	f := Filter{fixed.Filter, fixed.Order}
	return f, c.check(f, spent, planned)
}

// orderFor returns the Rényi order that bounds the charges in added, made after the charges in
// spent, most tightly. Where either list cannot be read for the unit it returns the order of
// Gaussian noise; Check then reports why.
func (c Cap) orderFor(spent, added []Entry) (float64, error) {
	f, err := c.fresh()
	if err != nil {
		return 0, err
	}
	r, err := newReading(append(spent[:len(spent):len(spent)], added...), c.Adjacency, c.Unit)
	if err != nil {
		return 0, fmt.Errorf("ledger: cap: %w", err)
	}
	before, ok := r.divergence(spent)
	bill, also := r.divergence(added)
	if !ok || !also || len(added) == 0 {
		return f.Order, nil
	}
	return bestOrder(c, f.Order, before, bill), nil
}

// divergence returns the divergence of the composition of entries as a function of the order.
func (r reading) divergence(entries []Entry) (func(order float64) float64, bool) {
	events, _ := r.all(entries)
	if events == nil && len(entries) > 0 {
		return nil, false
	}
	events, err := tally(events)
	if err != nil {
		return nil, false
	}
	at, err := account.Divergence(events, r.pairs)
	return at, err == nil
}

// SumFilter returns Sum by a filter, which holds for runs that were chosen after looking
// at earlier ones, if the filter was fixed before.
func SumFilter(entries []Entry, f Filter, adjacency privacy.Adjacency, unit Unit, delta float64) (Total, error) {
	t := Total{Delta: delta, Adjacency: adjacency, Unit: unit, Accountant: "filter " + f.String(), Charges: len(entries)}
	r, err := newReading(entries, adjacency, unit)
	if err != nil {
		return t, fmt.Errorf("ledger: total: %w", err)
	}
	if err := f.valid(); err != nil {
		return t, fmt.Errorf("ledger: total: %w", err)
	}
	all, why, err := r.cost(f, entries)
	if err != nil {
		return t, err
	}
	if why != "" {
		return t.none(why), nil
	}
	_, t.Reason = r.all(entries)
	t.Epsilon = f.epsilon(all, delta)
	return t, nil
}
