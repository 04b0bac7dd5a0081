// Package book is where privacy is spent: ledgers and their caps, charges, the noise key, and
// the payers that alone hand out noise. It sees plans, names and keys, never a row.
package book

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// Account is the open ledger of a dataset.
type Account struct {
	mu     sync.Mutex
	path   string
	of     Dataset
	ledger *ledger.Ledger
	limit  *ledger.Cap // nil: the dataset has no budget
}

// Open opens the ledger of a dataset, and refuses one that is not the dataset's own or
// lacks charges that the owner's side knows of.
func Open(plan *compile.Plan, of Dataset, at Place, clock func() time.Time) (*Account, error) {
	path, err := at.allowed(of)
	if err != nil {
		return nil, err
	}
	if err := at.Disk.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("%s: the folder of the ledger must be writable: %w", path, store.Reason(err))
	}
	seen, err := at.witnesses(of, path)
	if err != nil {
		return nil, err
	}
	l, err := ledger.Open(at.Disk, path, of.ID, clock)
	if err != nil {
		return nil, of.mend(err)
	}
	a, err := checked(plan, of, at, path, seen, l)
	if err == nil {
		err = of.noteLedger(path, l.Entries()) // what others have charged, or what a crash kept from being noted
	}
	if err != nil {
		return nil, err
	}
	for _, r := range l.Removed() {
		at.Log.Warn("the ledger ended in a line that a crash cut short; it was removed, and is kept aside", "ledger", path, "line", r.Line, "bytes", r.Bytes, "kept", r.Path)
	}
	return a, nil
}

// Look opens the ledger as Open does, to say how it stands: nothing on disk is changed.
func Look(plan *compile.Plan, of Dataset, at Place, clock func() time.Time) (*Account, error) {
	path, err := at.ledger(of)
	if err != nil {
		return nil, err
	}
	seen, err := at.witnesses(of, path)
	if errors.Is(err, dataset.ErrDamaged) { // only who charges needs it
		if !slices.Contains(of.Known.Notes, err.Error()) {
			at.Log.Warn("no run can charge the dataset: " + err.Error())
		}
	} else if err != nil {
		return nil, err
	}
	l, err := ledger.View(path, of.ID, clock)
	if err != nil {
		return nil, of.mend(err)
	}
	return checked(plan, of, at, path, seen, l)
}

func checked(plan *compile.Plan, of Dataset, at Place, path string, seen witnesses, l *ledger.Ledger) (*Account, error) {
	known := cmp.Or(of.checkLedger(l.Entries(), seen.kept), seen.beside.Check(l.Entries()))
	if err := errors.Join(located(path, known), located(path, checkHeads(l.Entries(), seen.heads, of, known != nil))); err != nil {
		return nil, err
	}
	return &Account{path: path, of: of, ledger: l, limit: limit(plan, at.Order)}, nil
}

// located names the file in front of an error, so that each line of several has it.
func located(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Path is where the ledger lies.
func (a *Account) Path() string { return a.path }

// Note tells the data's owner where the cap is looser than it was, or is "".
func (a *Account) Note() string { return capNote(a.ledger.Entries(), a.limit) }

// Order is that of the filter that the cap is read with, once Afford has fixed it; 0 where
// the dataset has no budget.
func (a *Account) Order() float64 {
	if a.limit == nil {
		return 0
	}
	return a.limit.Order
}

// limit is the budget of the dataset as the ledger takes it.
func limit(plan *compile.Plan, order float64) *ledger.Cap {
	b := plan.Dataset.Budget
	if b == nil {
		return nil
	}
	if b.Filter != "rdp" {
		order = 0 // the others have none
	}
	return &ledger.Cap{Epsilon: b.Epsilon, Delta: b.Delta, Adjacency: plan.Adjacency, Unit: unitOf(plan), Filter: b.Filter, Order: order}
}

func unitOf(plan *compile.Plan) ledger.Unit { return Unit(plan.Spec.Dataset.PrivacyUnit) }

// Unit returns a privacy unit as the ledger has it: what is promised does not depend on which rows of a unit are kept.
func Unit(u pipeline.Unit) ledger.Unit { return ledger.Unit{Column: u.Column, MaxRows: u.MaxRows} }

// Afford refuses what these runs have not paid yet where the budget does not cover it all,
// before anything is spent. Runs of several specs may state budgets of their own, or read one by other
// terms: each has to cover what all of them charge.
func (a *Account) Afford(runs ...*Purse) error {
	if a.limit == nil {
		return nil
	}
	var bill []ledger.Charge
	for _, p := range runs {
		bill = append(bill, a.unpaid(p)...)
	}
	fixed, err := a.ledger.Fix(*a.limit, bill...)
	if err != nil {
		return err
	}
	a.limit = &fixed
	caps := []ledger.Cap{fixed}
	for _, p := range runs {
		if c := limit(p.plan, fixed.Order); c != nil && !slices.Contains(caps, *c) {
			caps = append(caps, *c)
		}
	}
	for _, c := range caps {
		if c.Filter != fixed.Filter {
			return fmt.Errorf("dataset.budget.filter: is %s in one spec and %s in another, must be one: %w", fixed.Filter, c.Filter, ledger.ErrFilter)
		}
		if err := a.ledger.Check(c, bill...); err != nil {
			return err
		}
	}
	return nil
}

// unpaid lists the planned charges of a run that the ledger does not have yet. A run that is
// continued pays anew for what is another computation by now, such as of another public file.
func (a *Account) unpaid(p *Purse) []ledger.Charge {
	paid := map[string]bool{}
	for _, e := range a.ledger.Entries() {
		paid[e.ID] = true
	}
	var open []ledger.Charge
	for i := range p.plan.Steps {
		s := &p.plan.Steps[i]
		for n := range s.Spends {
			c := p.charge(p.run, s, &s.Spends[n])
			if p.earlier[s.ID] == "" && !paid[c.ID] {
				open = append(open, c)
			}
		}
	}
	return open
}

// read is the ledger as it stands now: other processes may have added to it.
func (a *Account) read() ([]ledger.Entry, ledger.Head, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.ledger.Refresh(); err != nil {
		return nil, ledger.Head{}, err
	}
	return a.ledger.Entries(), a.ledger.Head(), nil
}

// append records a charge, synced, and keeps its line and the new head on the owner's side. One that
// the ledger has is not written again.
func (a *Account) append(c ledger.Charge) (entries []ledger.Entry, head ledger.Head, before bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err = a.of.untracked(a.path); err == nil {
		err = a.of.bind(a.path)
	}
	if err != nil {
		return nil, ledger.Head{}, false, err
	}
	entries, err = a.ledger.Append(a.limit, c)
	if before = errors.Is(err, ledger.ErrCharged); before {
		entries, err = a.ledger.Entries(), nil
	}
	if err != nil {
		return nil, ledger.Head{}, before, err
	}
	return entries, a.ledger.Head(), before, a.of.noteLedger(a.path, a.ledger.Entries())
}

// Restore writes the charges of a finished run that the ledger lacks, and names them: what
// was released was paid for, whatever became of the file.
func (a *Account) Restore(p *Purse, rec []record.Charge) (written []string, err error) {
	if err := a.of.bind(a.path); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range a.ledger.Entries() {
		known[e.ID] = true
	}
	for _, c := range rec {
		if step := p.plan.Step(c.Stage); !known[c.ID] && step != nil {
			again := p.charge(cmp.Or(c.Run, p.run), step, &pipeline.Planned{Line: privacy.Line{Name: c.Name}, Event: c.Event})
			again.ID = c.ID
			if _, err := a.ledger.Append(nil, again); err != nil {
				return written, err
			}
			written = append(written, c.ID)
		}
	}
	return written, a.of.noteLedger(a.path, a.ledger.Entries())
}
