package pay

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/privacy/noise"
	"weir/record"
)

// Purse makes the charges of one run, and remembers those that were made.
type Purse struct {
	plan    *compile.Plan
	of      Dataset
	run     string
	key     noise.Key
	probe   func(stage string) privacy.Probe
	account *Account // nil: nothing is charged, as in a replay

	settled map[string]bool // the only ids that may be paid; nil: any

	mu      sync.Mutex
	charges []record.Charge
	head    ledger.Head
}

// NewPurse is that of the run of this name. probe gives who looks on at the mechanisms of a
// stage; it is nil where nobody may.
func NewPurse(plan *compile.Plan, of Dataset, run string, key noise.Key, probe func(stage string) privacy.Probe) *Purse {
	return &Purse{plan: plan, of: of, run: run, key: key, probe: probe}
}

// ErrNewCharge is a charge that a run would need which is made again and was paid for.
var ErrNewCharge = errors.New("an input of a paid stage is not what it was, so its noise would be new, and a new charge; nothing was charged")

// Settled lets nothing be paid but what was: a run that is made again charges nothing.
func (p *Purse) Settled(charges []record.Charge) {
	p.settled = map[string]bool{}
	for _, c := range charges {
		p.settled[c.ID] = true
	}
}

// Draw takes the charges from an account that can afford them.
func (p *Purse) Draw(a *Account) error {
	p.account = a
	return a.Afford(p)
}

// Paid lists the charges in the order in which they were made, and the head of the ledger
// after the last of them.
func (p *Purse) Paid() ([]record.Charge, ledger.Head) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.charges), p.head
}

// charge is what a spend of a step costs. Its id holds the recipe: another
// recipe is another charge, even in the same run.
func (p *Purse) charge(s *compile.Step, spend *pipeline.Planned, recipe string) ledger.Charge {
	c := ledger.Charge{ID: chargeID(p.run, s.ID, spend.Name, recipe), Run: p.run, Spec: p.plan.Digest,
		Stage: s.ID, Name: spend.Name, Recipe: recipe, Version: p.of.Version, Unit: unitOf(p.plan), Adjacency: p.plan.Adjacency,
		Event: spend.Event.Event, Published: s.Published, Unproven: s.Unproven}
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
func (p *Purse) pay(s *compile.Step, spend *pipeline.Planned, recipe string) error {
	c := p.charge(s, spend, recipe)
	if p.settled != nil && !p.settled[c.ID] {
		return fmt.Errorf("%w. --fresh draws new noise", ErrNewCharge)
	}
	if p.account == nil {
		p.note(c, spend.Event, nil, ledger.Head{}) // the same noise again releases nothing new
		return nil
	}
	entries, head, err := p.account.append(c)
	if err != nil {
		return p.asBegun(err)
	}
	p.note(c, spend.Event, entries, head)
	return nil
}

// PayAll records every charge of a stage whose output is taken from the cache:
// what is released stands in the ledger, whatever became of it meanwhile.
func (p *Purse) PayAll(s *compile.Step, recipe string) error {
	if p.plan.Budget.Infinite() {
		return nil
	}
	for i := range s.Spends {
		if err := p.pay(s, &s.Spends[i], recipe); err != nil {
			return err
		}
	}
	return nil
}

func (p *Purse) note(paid ledger.Charge, event privacy.JSON, entries []ledger.Entry, head ledger.Head) {
	c := record.Charge{Stage: paid.Stage, Name: paid.Name, Event: event, ID: paid.ID}
	for _, entry := range entries {
		if entry.ID == paid.ID {
			c.Ledger = entry.Hash
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if head.Count > p.head.Count {
		p.head = head
	}
	p.charges = append(p.charges, c)
}

// asBegun marks the refusal of a run that was charged before: another run took
// what it had found left.
func (p *Purse) asBegun(err error) error {
	var over *ledger.OverBudgetError
	if errors.As(err, &over) {
		p.mu.Lock()
		over.Begun = len(p.charges) > 0
		p.mu.Unlock()
	}
	return err
}

// short is enough of a digest to tell recipes of one stage apart.
func short(digest string) string {
	const prefix = len("sha256:")
	if len(digest) < prefix+16 {
		return digest
	}
	return digest[prefix : prefix+16]
}
