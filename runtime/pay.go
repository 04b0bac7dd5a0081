package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// ErrOverBudget marks a run that would pass the budget of its dataset.
var ErrOverBudget = ledger.ErrOverBudget

// payments is the open ledger of a run's dataset.
type payments struct {
	mu     sync.Mutex
	path   string
	ledger *ledger.Ledger
	limit  *ledger.Cap
}

// openLedger opens the dataset's ledger and refuses a bill that its budget does
// not cover, before anything is spent. A run without privacy has none.
func (r *run) openLedger() error {
	if r.plan.Budget.Infinite() || r.opts.Replay != nil {
		return nil
	}
	a, err := openAccount(r.plan, r.source, r.folder, r.opts)
	if err != nil {
		return err
	}
	r.account, r.record.Dataset.Ledger = a, a.path
	if note := capNote(a.ledger.Entries(), a.limit); note != "" {
		r.opts.Log.Warn(note)
	}
	if a.limit == nil {
		return nil
	}
	bill := r.bill()
	fixed, err := a.ledger.Fix(*a.limit, bill...)
	if err != nil {
		return err
	}
	a.limit = &fixed
	return a.ledger.Check(fixed, bill...)
}

// openAccount opens the ledger, and refuses one that is not the dataset's own or
// lacks charges that the owner's side knows of.
func openAccount(plan *compile.Plan, s *source, folder *Folder, opts Options) (*payments, error) {
	path, err := ledgerPath(plan, s, folder, opts)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("%s: the folder of the ledger must be writable: %w", path, unwrapPath(err))
	}
	l, err := ledger.Open(path, s.id, opts.Clock)
	if err != nil {
		return nil, err
	}
	if err := s.checkLedger(l.Entries()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &payments{path: path, ledger: l, limit: limit(plan)}, nil
}

// limit is the budget of the dataset as the ledger takes it.
func limit(plan *compile.Plan) *ledger.Cap {
	b := plan.Dataset.Budget
	if b == nil {
		return nil
	}
	return &ledger.Cap{Epsilon: b.Epsilon, Delta: b.Delta, Adjacency: plan.Adjacency, Unit: unitOf(plan), Filter: b.Filter}
}

func unitOf(plan *compile.Plan) ledger.Unit { return ledger.Unit(plan.Spec.Dataset.PrivacyUnit) }

// bill lists the planned charges that the ledger does not have yet. The recipes
// of stages are not known before their inputs' are, so a resumed run is billed by
// what its stages and mechanisms are called.
func (r *run) bill() []ledger.Charge {
	paid := map[string]bool{}
	for _, e := range r.account.ledger.Entries() {
		if e.Run == r.record.ID {
			paid[e.Stage+"/"+e.Name] = true
		}
	}
	var open []ledger.Charge
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		for n := range s.Spends {
			if !paid[s.ID+"/"+s.Spends[n].Name] {
				open = append(open, r.charge(s, &s.Spends[n], ""))
			}
		}
	}
	return open
}

// charge is what a spend of a step costs. Its id holds the recipe: another
// recipe is another charge, even in the same run.
func (r *run) charge(s *compile.Step, p *pipeline.Planned, recipe string) ledger.Charge {
	c := ledger.Charge{ID: chargeID(r.record.ID, s.ID, p.Name, recipe), Run: r.record.ID, Spec: r.plan.Digest,
		Stage: s.ID, Name: p.Name, Recipe: recipe, Version: r.source.version, Unit: unitOf(r.plan), Adjacency: r.plan.Adjacency,
		Event: p.Event.Event, Published: s.Published, Unproven: s.Unproven}
	if s.Unproven != "" {
		c.Event = nil // no bound is proven, so there is no event to add up
	}
	return c
}

func chargeID(run, stage, name, recipe string) string {
	return fmt.Sprintf("%s/%s/%s/%s", run, stage, name, short(recipe))
}

// pay records a charge, synced. One that an interrupted attempt of this run has
// paid is not paid again: its noise is the same.
func (r *run) pay(s *compile.Step, p *pipeline.Planned) error {
	c := r.charge(s, p, r.recipe(s))
	if r.opts.Replay != nil {
		r.noteCharge(c, p.Event, nil) // the same noise again releases nothing new
		return nil
	}
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	entries, err := r.account.ledger.Append(r.account.limit, c)
	if errors.Is(err, ledger.ErrCharged) {
		entries, err = r.account.ledger.Entries(), nil
	}
	if err != nil {
		return r.asBegun(err)
	}
	if err := r.source.noteLedger(r.account.path, r.account.ledger.Head()); err != nil {
		return err
	}
	r.noteCharge(c, p.Event, entries)
	return nil
}

// payAll records every charge of a stage whose output is taken from the cache:
// what is released stands in the ledger, whatever became of it meanwhile.
func (r *run) payAll(s *compile.Step) error {
	if r.plan.Budget.Infinite() {
		return nil
	}
	for i := range s.Spends {
		if err := r.pay(s, &s.Spends[i]); err != nil {
			return err
		}
	}
	return nil
}

// restore records the charges of a finished run that the ledger lacks: what was
// released was paid for, whatever became of the file.
func (a *payments) restore(r *run, rec *record.Run) error {
	r.account, r.record = a, rec
	defer func() { r.account, r.record = nil, nil }()
	known := map[string]bool{}
	for _, e := range a.ledger.Entries() {
		known[e.ID] = true
	}
	for _, c := range rec.Charges {
		if step := r.plan.Step(c.Stage); !known[c.ID] && step != nil {
			again := r.charge(step, &pipeline.Planned{Name: c.Name, Event: c.Event}, "")
			again.ID = c.ID
			if _, err := a.ledger.Append(nil, again); err != nil {
				return err
			}
			r.opts.Log.Warn("the ledger lacked a charge of a finished run, which is written again", "charge", c.ID)
		}
	}
	return r.source.noteLedger(a.path, a.ledger.Head())
}

func (r *run) noteCharge(paid ledger.Charge, event privacy.JSON, entries []ledger.Entry) {
	c := record.Charge{Stage: paid.Stage, Name: paid.Name, Event: event, ID: paid.ID}
	for _, entry := range entries {
		if entry.ID == paid.ID {
			c.Ledger = entry.Hash
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.account != nil {
		head := r.account.ledger.Head()
		r.record.Dataset.LedgerCount, r.record.Dataset.LedgerHead = head.Count, head.Hash
	}
	r.record.Charges = append(r.record.Charges, c)
}

// short is enough of a digest to tell recipes of one stage apart.
func short(digest string) string {
	const prefix = len("sha256:")
	if len(digest) < prefix+16 {
		return digest
	}
	return digest[prefix : prefix+16]
}
