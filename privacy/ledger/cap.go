package ledger

import (
	"errors"
	"fmt"
	"math"

	"weir/privacy"
)

// Cap bounds the sum over all runs on a dataset, each of which may be chosen
// after looking at the earlier ones.
type Cap struct {
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	Unit           Unit
	Filter         string  // one of Filters; "" is the ledger's, or rdp where it has none yet
	Order          float64 // of rdp; 0 is the ledger's, or by (Epsilon, Delta) where it has none yet
}

// admission is what lets a charge follow; zero without a cap.
type admission struct {
	filter *Filter
	terms  *Terms
}

// Check reports whether the charges of bill may follow those of the ledger, nil
// or an *OverBudgetError, without writing anything. Only Append decides.
func (l *Ledger) Check(limit Cap, bill ...Charge) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.admit(&limit, bill)
	return err
}

// admit returns the entries of charges, if the cap lets them follow.
func (l *Ledger) admit(limit *Cap, charges []Charge) ([]Entry, error) {
	if limit == nil {
		return l.chain(charges, admission{})
	}
	if err := limit.valid(); err != nil {
		return nil, fmt.Errorf("ledger: cap: %w", err)
	}
	if math.IsInf(limit.Epsilon, 1) { // no cap, so no filter is fixed
		return l.chain(charges, admission{})
	}
	filter, err := limit.filter(l.entries)
	if err != nil {
		return nil, err
	}
	added, err := l.chain(charges, admission{&filter, &Terms{limit.Epsilon, limit.Delta}})
	if err != nil {
		return nil, err
	}
	return added, limit.check(filter, l.entries, added)
}

func (c Cap) valid() error {
	switch {
	case !(c.Epsilon >= 0) || !(c.Delta >= 0 && c.Delta < 1):
		return fmt.Errorf("is epsilon %g, delta %g, must be at least 0, and delta below 1", c.Epsilon, c.Delta)
	case c.Order != 0 && c.Filter != "" && c.Filter != "rdp":
		return fmt.Errorf("order: is %g, must be left out: %s has none", c.Order, c.Filter)
	}
	_, err := privacy.ParseAdjacency(string(c.Adjacency))
	return errors.Join(err, c.Unit.valid())
}

// check admits by the sum over all charges, capped or not.
func (c Cap) check(f Filter, spent, added []Entry) error {
	all := append(spent[:len(spent):len(spent)], added...)
	r, err := newReading(all, c.Adjacency, c.Unit)
	if err != nil {
		return fmt.Errorf("ledger: cap: %w", err)
	}
	with, why, err := r.cost(f, all)
	if err != nil {
		return c.unmeasured(err, r, spent, all)
	}
	limit := f.limit(c.Epsilon, c.Delta)
	if with.within(limit) {
		return nil
	}
	before, _, err := r.cost(f, spent)
	if why == "" && limit.Amount < 0 {
		why = fmt.Sprintf("reading order %g at delta %.3g alone costs epsilon %.6g", f.Order, c.Delta, conversion(f.Order, c.Delta))
	}
	return errors.Join(err, &OverBudgetError{Cap: c, Filter: f, Limit: limit, Spent: before, With: with, Why: why, Gaussian: c.byGaussian(r, spent, all)})
}

// byGaussian reports whether the filter gaussian would admit what another one does not, and no capped charge has fixed that.
func (c Cap) byGaussian(r reading, spent, all []Entry) bool {
	fixed, _, err := FilterOf(spent)
	if err != nil || fixed != nil {
		return false
	}
	f := Filter{Name: "gaussian"}
	sum, why, err := r.cost(f, all)
	return err == nil && why == "" && sum.within(f.limit(c.Epsilon, c.Delta))
}

// unmeasured completes the refusal of a charge that the filter has no measure for: whether it is made, and which
// filters would measure everything, where none is fixed.
func (c Cap) unmeasured(err error, r reading, spent, all []Entry) error {
	var e *UnmeasuredError
	if !errors.As(err, &e) {
		return err
	}
	if e.Line > len(spent) {
		e.Line = 0
	}
	if fixed, _, err := FilterOf(spent); err != nil || fixed != nil {
		return errors.Join(e, err)
	}
	for _, name := range filterNames() {
		other, err := Cap{Epsilon: c.Epsilon, Delta: c.Delta, Filter: name}.fresh()
		if err != nil {
			continue
		}
		if _, _, err := r.cost(other, all); err == nil {
			e.Others = append(e.Others, name)
		}
	}
	return e
}

// cost adds entries up. What cannot be read for the unit is infinite, and why names
// the line; what the filter cannot measure is an error, because another could.
func (r reading) cost(f Filter, entries []Entry) (sum Cost, why string, err error) {
	known := map[string]Cost{}
	for i, e := range entries {
		event, why := r.event(e)
		if why != "" {
			return Cost{Amount: math.Inf(1)}, fmt.Sprintf("line %d: charge %q %s", i+1, e.ID, why), nil
		}
		c, err := f.costOnce(known, event, r.pairs)
		if err != nil {
			return sum, "", &UnmeasuredError{Filter: f, Line: i + 1, Stage: e.Stage, Name: e.Name, Cause: err}
		}
		sum = sum.plus(c)
	}
	return sum, "", nil
}

// costOnce computes the cost of equal events once.
func (f Filter) costOnce(known map[string]Cost, event privacy.Event, pairs privacy.Adjacency) (Cost, error) {
	text, err := privacy.MarshalEvent(event)
	if err != nil {
		return Cost{}, err
	}
	c, ok := known[string(text)]
	if !ok {
		if c, err = f.cost(event, pairs); err != nil {
			return c, err
		}
		known[string(text)] = c
	}
	return c, nil
}
