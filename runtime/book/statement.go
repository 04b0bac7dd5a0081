package book

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
)

// Statement is how the ledger of a dataset stands, and how it would after a bill, in epsilon
// at Delta for one unit.
type Statement struct {
	Ledger    string            `json:"ledger"`
	Before    int               `json:"charges"`     // that the ledger holds
	Bill      int               `json:"new_charges"` // that are to be made
	Spent     Amount            `json:"spent"`
	After     Amount            `json:"after"`                    // the new charges
	Cap       *float64          `json:"budget_epsilon,omitempty"` // of the dataset; nil: it has none
	Room      *int              `json:"room,omitempty"`           // how many times more the new charges fit, or else the last one; nil: not known
	Note      string            `json:"note,omitempty"`           // where the budget is looser than that of the last capped charge
	Adjacency privacy.Adjacency `json:"adjacency"`
}

// Statement adds up what runs have yet to pay. Under a budget of the dataset it is read by
// the filter of that, else as one plan that was fixed ahead.
func (a *Account) Statement(runs ...*Purse) (Statement, error) {
	var bill []ledger.Charge
	for _, p := range runs {
		bill = append(bill, a.unpaid(p)...)
	}
	entries, plan := a.ledger.Entries(), runs[0].plan
	s := Statement{Ledger: a.path, Before: len(entries), Bill: len(bill), Note: a.Note(), Adjacency: plan.Adjacency}
	after := slices.Clone(entries)
	for _, c := range bill {
		after = append(after, ledger.Entry{ID: c.ID, Event: privacy.JSON{Event: c.Event}, Adjacency: c.Adjacency, Unit: c.Unit, Unproven: c.Unproven})
	}
	sum, err := a.sum(runs[0])
	if err != nil {
		return s, err
	}
	if a.limit != nil {
		s.Cap = &a.limit.Epsilon
	}
	if s.Spent.Total, err = sum(entries); err == nil {
		s.After.Total, err = sum(after)
	}
	if err == nil && a.limit != nil && len(after) > 0 && !math.IsInf(s.After.Epsilon, 1) {
		err = s.count(*a.limit, after)
	}
	return s, err
}

// measured takes what the filter of a budget has no measure for as a sum without a bound, which Afford refuses.
func measured(sum func([]ledger.Entry) (ledger.Total, error)) func([]ledger.Entry) (ledger.Total, error) {
	return func(e []ledger.Entry) (ledger.Total, error) {
		t, err := sum(e)
		var none *ledger.UnmeasuredError
		if errors.As(err, &none) {
			t.Epsilon, t.Reason, err = math.Inf(1), "the filter "+none.Filter.Name+" has no measure for a charge", nil
		}
		return t, err
	}
}

// count says how many times more the new charges fit into a budget or, where there are none, the last charge.
func (s *Statement) count(limit ledger.Cap, after []ledger.Entry) error {
	n, known, err := limit.Room(after, after[min(s.Before, len(after)-1):])
	if known {
		s.Room = &n
	}
	return err
}

// Amount is a total that is written with null for an infinite epsilon, which JSON has no
// number for.
type Amount struct{ ledger.Total }

// MarshalJSON writes what was added up, and how.
func (a Amount) MarshalJSON() ([]byte, error) {
	epsilon := &a.Epsilon
	if math.IsInf(a.Epsilon, 1) {
		epsilon = nil
	}
	return json.Marshal(map[string]any{"epsilon": epsilon, "delta": a.Delta, "unit": a.Unit.String(), "accountant": a.Accountant, "reason": a.Reason})
}

// sum is how totals of the account are read.
func (a *Account) sum(p *Purse) (func([]ledger.Entry) (ledger.Total, error), error) {
	plan, unit := p.plan, unitOf(p.plan)
	if a.limit != nil && a.limit.Filter != "" {
		f := ledger.Filter{Name: a.limit.Filter, Order: a.limit.Order}
		return measured(func(e []ledger.Entry) (ledger.Total, error) {
			return ledger.SumFilter(e, f, plan.Adjacency, unit, a.limit.Delta)
		}), nil
	}
	accountant, err := account.ByName(plan.Accountant)
	return func(e []ledger.Entry) (ledger.Total, error) {
		return ledger.Sum(e, accountant, plan.Adjacency, unit, plan.Delta)
	}, err
}

// Statement is that of the account which the purse charges, for what it has yet to pay.
func (p *Purse) Statement() (Statement, error) {
	if p.account == nil {
		return Statement{}, nil
	}
	return p.account.Statement(p)
}
