package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/privacy"
)

func (e Entry) validCap() error {
	switch c := e.Cap; {
	case c == nil:
		return nil
	case e.Filter == nil:
		return errors.New("cap: stands without a filter, must stand with the one that admitted the charge")
	case !(c.Epsilon >= 0) || math.IsInf(c.Epsilon, 1) || !(c.Delta >= 0 && c.Delta < 1):
		return fmt.Errorf("cap: is epsilon %g, delta %g, must be finite and at least 0, and delta below 1", c.Epsilon,
			c.Delta)
	}
	return nil
}

// LastCap returns the cap of the last charge that names one, and its line, or line
// 0. It holds for the unit and adjacency of that charge.
func LastCap(entries []Entry) (c Cap, line int) {
	for i := len(entries) - 1; i >= 0; i-- {
		if e := entries[i]; e.Cap != nil {
			return Cap{Epsilon: e.Cap.Epsilon, Delta: e.Cap.Delta, Adjacency: e.Adjacency, Unit: e.Unit, Filter: e.Filter.Name,
				Order: e.Filter.Order}, i + 1
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

// alike returns how many charges like one fit into what the charges in spent leave of the limit.
func alike(spent, one, limit Cost) (n int) {
	for n < MostAlike && spent.plus(one).within(limit) {
		spent, n = spent.plus(one), n+1
	}
	return n
}

// largestPure returns the greatest epsilon, up to top, of a pure release that fits after
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

// Total is what the charges of a ledger add up to.
type Total struct {
	Epsilon    float64           `json:"epsilon"` // nats; +Inf where nothing is proven, and Reason says why
	Delta      float64           `json:"delta"`
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Unit       Unit              `json:"unit"`
	Accountant string            `json:"accountant"`
	Charges    int               `json:"charges"`
	Reason     string            `json:"reason,omitempty"`
	Unmeasured bool              `json:"-"` // Epsilon is +Inf because the filter that adds up has no measure for a charge
}

// Sum composes all events of the ledger under one accountant for a change of one
// unit under the adjacency; epsilons are not added up. The bound holds for a list
// of charges that was fixed in advance, as one plan is; for runs chosen after looking
// at earlier ones use SumFilter.
//
// Charges for another unit or adjacency are converted where something is proven
// (docs/design/ledger.md); else epsilon is +Inf and Reason names the line, as
// for a charge without a proven bound.
func Sum(entries []Entry, accountant privacy.Accountant, adjacency privacy.Adjacency, unit Unit, delta float64) (Total,
	error) {
	t := Total{Delta: delta, Adjacency: adjacency, Unit: unit, Accountant: accountant.Name(), Charges: len(entries)}
	r, err := newReading(entries, adjacency, unit)
	if err != nil {
		return t, fmt.Errorf("ledger: total: %w", err)
	}
	all, reason := r.all(entries)
	if all == nil && len(entries) > 0 {
		return t.none(reason), nil
	}
	events, err := tally(all)
	if err != nil {
		return t, fmt.Errorf("ledger: %w", err)
	}
	if t.Epsilon, err = accountant.Epsilon(events, r.pairs, delta); err != nil {
		return t, fmt.Errorf("ledger: total under %s: %w", accountant.Name(), err)
	}
	t.Reason = reason
	return t, nil
}

// all returns the events of all entries and how they were read, or nil and the
// first line that has none.
func (r reading) all(entries []Entry) (events []privacy.Event, reason string) {
	var notes []string
	for i, e := range entries {
		event, why := r.event(e)
		if why != "" {
			return nil, fmt.Sprintf("line %d: charge %q %s", i+1, e.ID, why)
		}
		for _, note := range r.notes(e) {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		events = append(events, event)
	}
	return events, strings.Join(notes, "; ")
}

func (t Total) none(reason string) Total {
	t.Epsilon, t.Reason = math.Inf(1), reason
	return t
}

// tally writes equal events as one repeated event, in order of first appearance;
// composition does not depend on the order.
func tally(events []privacy.Event) ([]privacy.Event, error) {
	place, counts := map[string]int{}, []int64{}
	var out []privacy.Event
	for _, e := range events {
		text, err := privacy.MarshalEvent(e)
		if err != nil {
			return nil, err
		}
		i, ok := place[string(text)]
		if !ok {
			i = len(out)
			place[string(text)] = i
			out, counts = append(out, e), append(counts, 0)
		}
		counts[i]++
	}
	for i, n := range counts {
		if n > 1 {
			out[i] = privacy.Repeated{Count: n, Event: out[i]}
		}
	}
	return out, nil
}

// ErrOverBudget marks a charge that would pass the cap of its dataset.
var ErrOverBudget = errors.New("over the budget of the dataset")

// OverBudgetError says what is spent and what the refused charges would make it.
type OverBudgetError struct {
	Cap                Cap
	Filter             Filter
	Limit, Spent, With Cost   // the most, the charges made, and the refused ones with them
	Why                string // why With is infinite, if it is
	Begun              bool   // the run has made other charges before, which stand
	Gaussian           bool   // the filter gaussian would admit the charges, and none is fixed yet
}

// Left returns what the filter still admits.
func (e *OverBudgetError) Left() Cost {
	return Cost{max(0, e.Limit.Amount-e.Spent.Amount), max(0, e.Limit.Delta-e.Spent.Delta)}
}

// Error says it in epsilon, as the owner set the cap; what the filter adds up, by
// which alone it decides, stands behind.
func (e *OverBudgetError) Error() string {
	done := "Nothing was charged."
	if e.Begun {
		done = "What this run was charged before stands."
	}
	advice := "Lower"
	if e.Gaussian {
		advice = "Declare dataset.budget.filter: gaussian, which adds up unsampled Gaussian noise without loss and would " +
			"admit it; or lower"
	}
	return fmt.Sprintf("refused: %s at delta %.3g; this bill would make it %s by the filter %s. %s "+
		"%s privacy.epsilon, draw more rows from a released model (free: weir sample), or let the data's owner raise "+
		"dataset.budget. (%s)",
		e.spent(), e.Cap.Delta, e.chargeText(), e.Filter.Name, done, advice, e.numbers())
}

func (e *OverBudgetError) Unwrap() error { return ErrOverBudget }

func (e *OverBudgetError) spent() string {
	spent := e.Filter.epsilon(e.Spent, e.Cap.Delta)
	if math.IsInf(spent, 1) {
		return fmt.Sprintf("what is spent of epsilon %.6g has no finite bound", e.Cap.Epsilon)
	}
	return fmt.Sprintf("epsilon %s of %.6g is spent", privacy.Bound(spent), e.Cap.Epsilon)
}

func (e *OverBudgetError) chargeText() string {
	including := e.Filter.epsilon(e.With, e.Cap.Delta)
	if math.IsInf(including, 1) {
		return "more than any epsilon bounds"
	}
	return privacy.Bound(including)
}

// numbers returns the same as the filter counts.
func (e *OverBudgetError) numbers() string {
	f := e.Filter
	s := fmt.Sprintf("filter %s, for one %s, %s: %s in all, of which %s is spent and %s left; %s with this bill",
		f, e.Cap.Unit, e.Cap.Adjacency, f.words(e.Limit), f.words(e.Spent), f.words(e.Left()), f.words(e.With))
	if e.Why != "" {
		s += "; " + e.Why
	}
	return s
}

// UnmeasuredError says that the filter of a cap has no measure for a charge, made or asked for. It is refused
// whatever is left: what cannot be added up cannot be bounded.
type UnmeasuredError struct {
	Filter      Filter
	Line        int      // of the ledger; 0: the charge is not made yet
	Stage, Name string   // of the charge
	Others      []string // filters that measure everything, where none is fixed yet
	Begun       bool     // the run has made other charges before, which stand
	Cause       error    // names the event
}

// Error names the charge, what the filter lacks, and what can be done.
func (e *UnmeasuredError) Error() string {
	where, done := "stage "+e.Stage+" would spend "+e.Name, "Nothing was charged."
	if e.Line > 0 {
		where = fmt.Sprintf("line %d of the ledger: stage %s has spent %s", e.Line, e.Stage, e.Name)
	}
	if e.Begun {
		done = "What this run was charged before stands."
	}
	return fmt.Sprintf("refused: %s, for which the filter %s of dataset.budget has no measure: %s. %s %s", where,
		e.Filter.Name, e.reason(), done, e.advice())
}

func (e *UnmeasuredError) reason() string {
	var of *privacy.UnsupportedError
	if errors.As(e.Cause, &of) {
		return of.Reason
	}
	return e.Cause.Error()
}

func (e *UnmeasuredError) advice() string {
	switch {
	case len(e.Others) > 0:
		return "Declare dataset.budget.filter: " + strings.Join(e.Others, " or ") +
			", or take a stage whose charges it measures"
	case e.Line > 0:
		return "No other filter has a measure for all charges of this ledger, so this dataset can have no budget; what is " +
			"proven of them, had all been fixed in advance, is printed by weir ledger show"
	}
	return "No other filter has a measure for this and all charges of the ledger: take a stage whose charges it " +
		"measures (weir plan prints them), or leave dataset.budget out"
}

func (e *UnmeasuredError) Unwrap() error { return e.Cause }
