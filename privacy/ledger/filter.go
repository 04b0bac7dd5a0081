package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/account"
)

// ErrFilter marks a cap that asks for another filter than the ledger's.
var ErrFilter = errors.New("the filter of a ledger is fixed by its first capped charge")

// Filter is a rule that admits charges one after another such that the bound holds
// however each was chosen after looking at what the earlier ones released. It must
// be fixed before: a filter chosen after looking bounds nothing.
//
//   - rdp: the sum of Renyi divergences at one order (Feldman, Zrnic 2021; Lecuyer 2021).
//   - gaussian: the sum of mu^2 of unsampled Gaussian releases (Smith, Thakurta
//     2022; Koskela, Tobaben, Honkela 2023).
//   - basic: the sums of epsilon and delta of pure and approximate releases
//     (Rogers, Roth, Ullman, Vadhan 2016).
type Filter struct {
	Name  string  `json:"name"`
	Order float64 `json:"order,omitempty"` // of rdp
}

// filterNames lists the names of the filters, the default first.
func filterNames() []string { return []string{"rdp", "gaussian", "basic"} }

func (f Filter) String() string {
	if f.Name == "rdp" {
		return fmt.Sprintf("rdp at order %g", f.Order)
	}
	return f.Name
}

func (f *Filter) valid() error {
	switch {
	case f == nil, (f.Name == "gaussian" || f.Name == "basic") && f.Order == 0, f.Name == "rdp" && f.Order > 1 &&
		!math.IsInf(f.Order, 1):
		return nil
	case f.Name == "rdp":
		return fmt.Errorf("filter: order: is %g, must be finite and above 1", f.Order)
	case f.Name == "gaussian" || f.Name == "basic":
		return fmt.Errorf("filter: order: is %g, must be left out: %s has none", f.Order, f.Name)
	}
	return fmt.Errorf("filter: is %q, must be rdp, gaussian or basic", f.Name)
}

// FilterOf returns the filter that the first capped charge fixed and its line, or
// nil. Two filters, which only a merge of branches can bring together, are an
// error: going on with either would be a choice made after looking.
func FilterOf(entries []Entry) (*Filter, int, error) {
	var first *Filter
	line := 0
	for i, e := range entries {
		switch {
		case e.Filter == nil:
		case first == nil:
			first, line = e.Filter, i+1
		case *e.Filter != *first:
			return nil, 0, fmt.Errorf("ledger: line %d is admitted by the filter %s, line %d by %s: merged branches fixed "+
				"two, and no bound over both is proven: %w",
				line, first, i+1, e.Filter, ErrFilter)
		}
	}
	return first, line, nil
}

// Cost is what a filter adds up: Renyi divergence, mu^2, or epsilon and delta.
type Cost struct {
	Amount float64 `json:"amount"`
	Delta  float64 `json:"delta,omitempty"` // basic alone
}

func (c Cost) plus(d Cost) Cost { return Cost{c.Amount + d.Amount, c.Delta + d.Delta} }

func (c Cost) within(limit Cost) bool { return c.Amount <= limit.Amount && c.Delta <= limit.Delta }

// cost returns a function of the event alone, so that the order of charges and what
// comes later change nothing in it.
func (f Filter) cost(e privacy.Event, pairs privacy.Adjacency) (Cost, error) {
	events := []privacy.Event{e}
	switch f.Name {
	case "gaussian":
		squared, err := account.SquaredMu(events, pairs)
		return Cost{Amount: squared}, err
	case "basic":
		epsilon, delta, err := account.SumOfParameters(events, pairs)
		return Cost{epsilon, delta}, err
	}
	valueAt, err := account.Divergence(events, pairs)
	if err != nil {
		return Cost{}, err
	}
	return Cost{Amount: valueAt(f.Order)}, nil
}

// limit returns the most that the filter may add up to under (epsilon, delta).
func (f Filter) limit(epsilon, delta float64) Cost {
	switch f.Name {
	case "gaussian":
		noise := account.GaussianNoise(epsilon, delta)
		return Cost{Amount: 1 / (noise * noise)}
	case "basic":
		return Cost{epsilon, delta}
	}
	return Cost{Amount: epsilon - conversion(f.Order, delta)}
}

// conversion returns what it costs to read a divergence at delta.
func conversion(order, delta float64) float64 {
	if delta == 0 {
		return math.Inf(1)
	}
	return account.Improved.Epsilon(order, 0, delta)
}

// epsilon reads a sum at delta; it inverts limit.
func (f Filter) epsilon(spent Cost, delta float64) float64 {
	switch {
	case spent == (Cost{}):
		return 0
	case f.Name == "gaussian":
		return account.GaussianEpsilon(1/math.Sqrt(spent.Amount), delta)
	case f.Name == "basic" && spent.Delta > delta:
		return math.Inf(1)
	case f.Name == "basic":
		return spent.Amount
	}
	return math.Max(0, spent.Amount+conversion(f.Order, delta))
}

// words says an amount of the filter.
func (f Filter) words(c Cost) string {
	switch f.Name {
	case "gaussian":
		return fmt.Sprintf("mu^2 %.6g", c.Amount)
	case "basic":
		return fmt.Sprintf("epsilon %.6g and delta %.3g", c.Amount, c.Delta)
	}
	return fmt.Sprintf("Renyi divergence %.6g", c.Amount)
}

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
	terms  *CapTerms
}

// Check reports whether the charges of bill may follow the charges of the ledger, nil
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
	added, err := l.chain(charges, admission{&filter, &CapTerms{limit.Epsilon, limit.Delta}})
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
	including, why, err := r.cost(f, all)
	if err != nil {
		return c.unmeasured(err, r, spent, all)
	}
	limit := f.limit(c.Epsilon, c.Delta)
	if including.within(limit) {
		return nil
	}
	before, _, err := r.cost(f, spent)
	if why == "" && limit.Amount < 0 {
		why = fmt.Sprintf("reading order %g at delta %.3g alone costs epsilon %.6g", f.Order, c.Delta,
			conversion(f.Order, c.Delta))
	}
	return errors.Join(err, &OverBudgetError{Cap: c, Filter: f, Limit: limit, Spent: before, With: including, Why: why,
		Gaussian: c.byGaussian(r, spent, all)})
}

// byGaussian reports whether the filter gaussian would admit what another one does not, and no capped charge has fixed
// that.
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
	e.Others = r.measuring(c, all)
	return e
}

// measuring returns the names of the filters that have a measure for all entries, under a cap.
func (r reading) measuring(c Cap, all []Entry) (names []string) {
	for _, name := range filterNames() {
		f, err := Cap{Epsilon: c.Epsilon, Delta: c.Delta, Filter: name}.fresh()
		if err != nil {
			continue
		}
		if _, _, err := r.cost(f, all); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// CanBeCapped reports whether a dataset with these charges can have a budget, of whatever size: whether a filter has a
// measure for all of them, or the filter that a capped charge has fixed. Which events a filter measures does not depend
// on the size.
func CanBeCapped(entries []Entry, adjacency privacy.Adjacency, unit Unit) (bool, error) {
	r, err := newReading(entries, adjacency, unit)
	if err != nil {
		return false, fmt.Errorf("ledger: filters: %w", err)
	}
	fixed, _, err := FilterOf(entries)
	if err != nil {
		return false, err
	}
	names := r.measuring(Cap{Epsilon: 1, Delta: 1e-6}, entries)
	return len(names) > 0 && (fixed == nil || slices.Contains(names, fixed.Name)), nil
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
