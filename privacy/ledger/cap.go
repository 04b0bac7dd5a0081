package ledger

import (
	"errors"
	"fmt"
	"math"

	"weir/privacy"
)

// ErrOverBudget marks a charge that would pass the cap of its dataset.
var ErrOverBudget = errors.New("over the budget of the dataset")

// Cap bounds the sum over all runs on a dataset.
type Cap struct {
	Epsilon, Delta float64
	Accountant     privacy.Accountant
	Adjacency      privacy.Adjacency
}

// OverBudgetError says what is spent and what the refused charges would make it.
type OverBudgetError struct {
	Cap   Cap
	Spent float64 // epsilon of the charges made
	With  float64 // epsilon with the refused charges
	Why   string  // why With is infinite, if it is
}

// Left returns a pure epsilon that can still be spent under pld, rdp, moments and
// basic, where a pure charge adds at most itself; more may be reachable by
// composition. Under zcdp and advanced a pure charge can add more than itself.
func (e *OverBudgetError) Left() float64 { return max(0, e.Cap.Epsilon-e.Spent) }

func (e *OverBudgetError) Error() string {
	s := fmt.Sprintf("ledger: the charge is refused: the dataset's budget is epsilon %.6g at delta %.3g (%s, %s), %.6g is spent, and with this charge it would be %.6g; %.6g is left",
		e.Cap.Epsilon, e.Cap.Delta, e.Cap.Adjacency, e.Cap.Accountant.Name(), e.Spent, e.With, e.Left())
	if e.Why != "" {
		s += " (" + e.Why + ")"
	}
	return s
}

func (e *OverBudgetError) Unwrap() error { return ErrOverBudget }

// Check reports whether the charges of bill may follow those of the ledger, nil
// or an *OverBudgetError, without writing anything. Only Append decides.
func (l *Ledger) Check(limit Cap, bill ...Charge) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	added, err := l.chain(bill)
	if err != nil {
		return err
	}
	return limit.check(l.entries, added)
}

func (c Cap) check(spent, added []Entry) error {
	if !(c.Epsilon >= 0) || !(c.Delta >= 0 && c.Delta < 1) {
		return fmt.Errorf("ledger: cap: is epsilon %g, delta %g, must be at least 0, and delta below 1", c.Epsilon, c.Delta)
	}
	if math.IsInf(c.Epsilon, 1) {
		return nil
	}
	all := append(spent[:len(spent):len(spent)], added...)
	with, err := Sum(all, c.Accountant, c.Adjacency, c.Delta)
	if err != nil {
		return err
	}
	if with.Epsilon <= c.Epsilon {
		return nil
	}
	before, err := Sum(spent, c.Accountant, c.Adjacency, c.Delta)
	if err != nil {
		return err
	}
	return &OverBudgetError{Cap: c, Spent: before.Epsilon, With: with.Epsilon, Why: with.Reason}
}
