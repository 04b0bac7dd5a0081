package runtime

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// ErrOverBudget marks a run that would pass the budget of its dataset.
var ErrOverBudget = ledger.ErrOverBudget

// payer writes charges to the ledger of the dataset before any noise is drawn.
type payer struct {
	mu     sync.Mutex
	ledger *ledger.Ledger
	limit  *ledger.Cap
}

// openLedger opens the dataset's ledger and refuses a bill that its budget does
// not cover, before anything is spent. A run without privacy has none.
func (r *run) openLedger(source *source) error {
	if r.plan.Budget.Infinite() || r.opts.Replay != nil {
		return nil
	}
	path := r.ledgerPath(source)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("%s: the folder of the ledger must be writable: %w", path, unwrapPath(err))
	}
	l, err := r.openOrBegin(path)
	if err != nil {
		return err
	}
	r.payer, r.record.Dataset.Ledger = &payer{ledger: l}, path
	limit := r.limit()
	if limit == nil {
		return nil
	}
	bill := r.bill(l)
	fixed, err := l.Fix(*limit, bill...)
	if err != nil {
		return err
	}
	r.payer.limit = &fixed
	return l.Check(fixed, bill...)
}

// openOrBegin takes the dataset's id from its ledger; a new ledger draws one.
func (r *run) openOrBegin(path string) (*ledger.Ledger, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return ledger.Open(path, "", r.opts.Clock)
	}
	var id [16]byte
	if _, err := io.ReadFull(r.opts.Random, id[:]); err != nil {
		return nil, err
	}
	return ledger.Open(path, "ds-"+hex.EncodeToString(id[:]), r.opts.Clock)
}

// limit is the budget of the dataset as the ledger takes it.
func (r *run) limit() *ledger.Cap {
	b := r.plan.Dataset.Budget
	if b == nil {
		return nil
	}
	return &ledger.Cap{Epsilon: b.Epsilon, Delta: b.Delta, Adjacency: r.plan.Adjacency, Unit: ledger.Unit(r.plan.Spec.Dataset.PrivacyUnit), Filter: b.Filter}
}

// bill lists the planned charges that the ledger does not have yet.
func (r *run) bill(l *ledger.Ledger) []ledger.Charge {
	paid := map[string]bool{}
	for _, e := range l.Entries() {
		paid[e.ID] = true
	}
	var open []ledger.Charge
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		for n, e := range s.Events {
			if c := r.charge(s, r.chargeID(s, n), e.Event); !paid[c.ID] {
				open = append(open, c)
			}
		}
	}
	return open
}

func (r *run) chargeID(s *pipeline.Step, n int) string {
	return fmt.Sprintf("%s/%s/%d", r.record.ID, s.ID, n)
}

func (r *run) charge(s *pipeline.Step, id string, e privacy.Event) ledger.Charge {
	c := ledger.Charge{ID: id, Run: r.record.ID, Spec: r.plan.Digest, Version: "1", Stage: s.ID,
		Unit: ledger.Unit(r.plan.Spec.Dataset.PrivacyUnit), Adjacency: r.plan.Adjacency,
		Event: e, Published: s.Published, Unproven: s.Unproven}
	if s.Unproven != "" {
		c.Event = nil // no bound is proven, so there is no event to add up
	}
	return c
}

// pay records a charge, synced. One that an interrupted attempt of this run has
// paid is not paid again: its noise is the same.
func (r *run) pay(s *pipeline.Step, id string, e privacy.Event) error {
	if r.opts.Replay != nil {
		return nil // the same noise again releases nothing new
	}
	r.payer.mu.Lock()
	defer r.payer.mu.Unlock()
	entries, err := r.payer.ledger.Append(r.payer.limit, r.charge(s, id, e))
	if err != nil && !errors.Is(err, ledger.ErrCharged) {
		return err
	}
	r.noteCharge(s.ID, id, e, entries)
	return nil
}

// notePaid records the charges of a stage whose output is reused from an
// interrupted attempt of this run.
func (r *run) notePaid(s *pipeline.Step) {
	if r.payer == nil {
		return
	}
	for n, e := range s.Events {
		r.noteCharge(s.ID, r.chargeID(s, n), e.Event, r.payer.ledger.Entries())
	}
}

func (r *run) noteCharge(stage, id string, e privacy.Event, entries []ledger.Entry) {
	c := record.Charge{Stage: stage, Event: privacy.JSON{Event: e}, ID: id}
	for _, entry := range entries {
		if entry.ID == id {
			c.Ledger = entry.Hash
		}
	}
	head := r.payer.ledger.Head()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Dataset.LedgerCount, r.record.Dataset.LedgerHead = head.Count, head.Hash
	r.record.Charges = append(r.record.Charges, c)
}
