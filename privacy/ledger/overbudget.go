package ledger

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"weir/privacy"
)

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

// Left is what the filter still admits.
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
		advice = "Declare dataset.budget.filter: gaussian, which adds up unsampled Gaussian noise without loss and would admit it; or lower"
	}
	return fmt.Sprintf("refused: %s at delta %.3g; this bill would make it %s by the filter %s. %s "+
		"%s privacy.epsilon, draw more rows from a released model (free: weir sample), or let the data's owner raise dataset.budget. (%s)",
		e.spent(), e.Cap.Delta, e.made(), e.Filter.Name, done, advice, e.numbers())
}

func (e *OverBudgetError) Unwrap() error { return ErrOverBudget }

func (e *OverBudgetError) spent() string {
	spent := e.Filter.epsilon(e.Spent, e.Cap.Delta)
	if math.IsInf(spent, 1) {
		return fmt.Sprintf("what is spent of epsilon %.6g has no finite bound", e.Cap.Epsilon)
	}
	return fmt.Sprintf("epsilon %s of %.6g is spent", privacy.Bound(spent), e.Cap.Epsilon)
}

func (e *OverBudgetError) made() string {
	with := e.Filter.epsilon(e.With, e.Cap.Delta)
	if math.IsInf(with, 1) {
		return "more than any epsilon bounds"
	}
	return privacy.Bound(with)
}

// numbers is the same as the filter counts.
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
	return fmt.Sprintf("refused: %s, of which the filter %s of dataset.budget has no measure: %s. %s %s", where, e.Filter.Name, e.reason(), done, e.advice())
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
		return "Declare dataset.budget.filter: " + strings.Join(e.Others, " or ") + ", or take a stage whose charges it measures"
	case e.Line > 0:
		return "No filter measures all that is spent: this dataset can have no budget, and each run states its own epsilon"
	}
	return "No other filter measures what is spent and this together: take a stage whose charges it measures (weir plan prints them)"
}

func (e *UnmeasuredError) Unwrap() error { return e.Cause }
