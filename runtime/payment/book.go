// Package payment answers who has paid for what a stage computes and what a run would cost, and charges it: it holds
// ledgers and their caps, notes on who charged which recipe, noise keys, and the payers that alone hand out noise. It
// sees plans, names and keys, never a row.
package payment

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// Book is the open ledger of a dataset, beside the notes of a folder of runs on who charges what.
type Book struct {
	place  Place
	data   Dataset
	path   string
	former string // where the dataset was charged before, where that ledger is gone
	stale  string // ledger beside the table, where that is not the one that is charged

	mu     sync.Mutex
	ledger *ledger.Ledger // nil: nothing is charged, as in a replay
	limit  *ledger.Cap    // nil: the dataset has no budget
}

// Blank returns a book without a ledger: runs by it note what they would charge, and charge nothing.
func Blank(data Dataset, place Place) *Book { return &Book{place: place, data: data} }

// Open opens the book of a dataset for charges, and refuses a ledger that is not the dataset's own or
// lacks charges that the owner's side knows of.
func Open(plan *compile.Plan, data Dataset, place Place) (*Book, error) {
	path, err := place.allowed(data)
	if err != nil {
		return nil, err
	}
	if err := place.Disk.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("%s: the folder of the ledger must be writable: %w", path, store.Reason(err))
	}
	seen, err := place.witnesses(data, path)
	if err != nil {
		return nil, err
	}
	l, err := ledger.Open(place.Disk, path, data.ID, place.Clock)
	if err != nil {
		return nil, data.mend(err)
	}
	b, err := checked(plan, data, place, path, seen, l)
	if err == nil {
		err = data.noteLedger(path, l.Entries()) // what others have charged, or what a crash kept from being noted
	}
	if err != nil {
		return nil, err
	}
	for _, r := range l.Removed() {
		place.Log.Warn("the ledger ended in a line that a crash cut short; it was removed, and is kept aside",
			"ledger", path, "line", r.Line, "bytes", r.Bytes, "kept", r.Path)
	}
	return b, nil
}

// Look opens the book as Open does, to say how it stands: nothing on disk is changed.
func Look(plan *compile.Plan, data Dataset, place Place) (*Book, error) {
	path, err := place.ledger(data)
	if err != nil {
		return nil, err
	}
	seen, err := place.witnesses(data, path)
	if errors.Is(err, dataset.ErrDamaged) { // only who charges needs it
		if !slices.Contains(data.Known.Notes, err.Error()) {
			place.Log.Warn("no run can charge the dataset: " + err.Error())
		}
	} else if err != nil {
		return nil, err
	}
	l, err := ledger.View(path, data.ID, place.Clock)
	if err != nil {
		return nil, data.mend(err)
	}
	return checked(plan, data, place, path, seen, l)
}

// checked returns the book of a ledger that holds what its witnesses state.
func checked(plan *compile.Plan, data Dataset, place Place, path string, seen witnesses,
	l *ledger.Ledger) (*Book, error) {
	known := cmp.Or(data.checkLedger(l.Entries(), seen.kept), seen.beside.Check(l.Entries()))
	heads := checkHeads(l.Entries(), seen.heads, data, known != nil)
	if err := errors.Join(located(path, known), located(path, heads)); err != nil {
		return nil, err
	}
	return &Book{path: path, former: place.former(data, path), stale: place.staleLedger(data, path), data: data, ledger: l,
		place: place, limit: limit(plan, place.Order)}, nil
}

// cache returns what the runs of the folder share.
func (b *Book) cache() store.Cache { return store.CacheOf(b.place.Disk, b.place.Out) }

func (b *Book) notes() Notes { return Notes{b.cache()} }

// located names the file in front of an error, so that each line of several has it.
func located(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Path returns where the ledger lies; "" of a blank book.
func (b *Book) Path() string { return b.path }

// Former returns the ledger in which the dataset was charged before, where that is gone and this one takes its place;
// else "".
func (b *Book) Former() string { return b.former }

// Note returns what the owner should know where the budget is looser than the last cap, or another ledger is charged
// than before; else "".
func (b *Book) Note() string {
	if b.ledger == nil {
		return ""
	}
	var notes []string
	if b.former != "" {
		notes = append(notes, formerNote(b.former, b.path))
	}
	if b.stale != "" {
		notes = append(notes, fmt.Sprintf("%s, beside the table, is not the ledger that is charged, which is %s: it stays "+
			"as it was copied, and what reads it alone, such as weir budget check, counts too little", b.stale, b.path))
	}
	if note := capNote(b.ledger.Entries(), b.limit); note != "" {
		notes = append(notes, note)
	}
	return strings.Join(notes, "; ")
}

// formerNote says what may have become of a ledger that is gone.
func formerNote(former, path string) string {
	return fmt.Sprintf("%s, the ledger of this dataset until now, is gone, and %s is charged in its place: where the "+
		"data were moved, this is the same ledger; where they had been copied before, the other copy charges a ledger of "+
		"its own, neither knows what the other spends, and weir ledger merge makes one of them", former, path)
}

// Order returns the order of the filter that the budget is read with, once Afford has fixed it; 0 where
// the dataset has no budget.
func (b *Book) Order() float64 {
	if b.limit == nil {
		return 0
	}
	return b.limit.Order
}

// limit returns the budget of the dataset as the ledger takes it.
func limit(plan *compile.Plan, order float64) *ledger.Cap {
	b := plan.Dataset.Budget
	if b == nil {
		return nil
	}
	if b.Filter != "rdp" {
		order = 0 // the others have none
	}
	return &ledger.Cap{Epsilon: b.Epsilon, Delta: b.Delta, Adjacency: plan.Adjacency, Unit: unitOf(plan), Filter: b.Filter,
		Order: order}
}

func unitOf(plan *compile.Plan) ledger.Unit { return Unit(plan.Spec.Dataset.PrivacyUnit) }

// Unit returns a privacy unit as the ledger has it: what is promised does not depend on which rows of a unit are kept.
func Unit(u pipeline.Unit) ledger.Unit { return ledger.Unit{Column: u.Column, MaxRows: u.MaxRows} }

// Afford refuses what these runs have not paid yet where the budget does not cover it all,
// before anything is spent. Runs of several specs may state budgets of their own, or read one by other
// terms: each has to cover what all of them charge.
func (b *Book) Afford(runs ...*Purse) error {
	if b.limit == nil {
		return nil
	}
	bill := b.unpaid(runs)
	fixed, err := b.ledger.Fix(*b.limit, bill...)
	if err != nil {
		return err
	}
	b.limit = &fixed
	caps := []ledger.Cap{fixed}
	for _, p := range runs {
		if c := limit(p.task.Plan, fixed.Order); c != nil && !slices.Contains(caps, *c) {
			caps = append(caps, *c)
		}
	}
	for _, c := range caps {
		if c.Filter != fixed.Filter {
			return fmt.Errorf("dataset.budget.filter: is %s in one spec and %s in another, must be one: %w",
				fixed.Filter, c.Filter, ledger.ErrFilter)
		}
		if err := b.ledger.Check(c, bill...); err != nil {
			return err
		}
	}
	return nil
}

// unpaid lists the planned charges of runs that the ledger does not have yet. A run that is
// continued pays anew for what is another computation by now, such as of another public file.
func (b *Book) unpaid(runs []*Purse) (open []ledger.Charge) {
	paid := map[string]bool{}
	for _, e := range b.ledger.Entries() {
		paid[e.ID] = true
	}
	for _, p := range runs {
		for i := range p.task.Plan.Steps {
			s := &p.task.Plan.Steps[i]
			for n := range s.Spends {
				c := p.charge(p.attempt.ID, s, &s.Spends[n])
				if p.Earlier(s) == nil && !paid[c.ID] {
					open = append(open, c)
				}
			}
		}
	}
	return open
}

// read returns the ledger as it stands: other processes may have added to it. A blank book has none.
func (b *Book) read() ([]ledger.Entry, ledger.Head, error) {
	if b.ledger == nil {
		return nil, ledger.Head{}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.ledger.Refresh(); err != nil {
		return nil, ledger.Head{}, err
	}
	return b.ledger.Entries(), b.ledger.Head(), nil
}

// append records a charge, synced, and keeps its line and the new head on the owner's side. One that
// the ledger has is not written again.
func (b *Book) append(c ledger.Charge) (entries []ledger.Entry, head ledger.Head, before bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err = b.data.untracked(b.path); err == nil {
		err = b.data.bind(b.path)
	}
	if err != nil {
		return nil, ledger.Head{}, false, err
	}
	entries, err = b.ledger.Append(b.limit, c)
	if before = errors.Is(err, ledger.ErrCharged); before {
		entries, err = b.ledger.Entries(), nil
	}
	if err != nil {
		return nil, ledger.Head{}, before, err
	}
	return entries, b.ledger.Head(), before, b.data.noteLedger(b.path, b.ledger.Entries())
}

// Restore writes the charges of a finished run of a task that the ledger lacks, and names them: what
// was released was paid for, whatever became of the file.
func (b *Book) Restore(t *Task, rec *record.Run) (written []string, err error) {
	if err := b.data.bind(b.path); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range b.ledger.Entries() {
		known[e.ID] = true
	}
	for _, c := range rec.Charges {
		if step := t.Plan.Step(c.Stage); !known[c.ID] && step != nil {
			spend := &pipeline.Planned{Line: privacy.Line{Name: c.Name}, Event: c.Event}
			again := t.charge(cmp.Or(c.Run, rec.ID), step, spend, "")
			again.ID = c.ID // which the basis of the run is part of
			if _, err := b.ledger.Append(nil, again); err != nil {
				return written, err
			}
			written = append(written, c.ID)
		}
	}
	return written, b.data.noteLedger(b.path, b.ledger.Entries())
}
