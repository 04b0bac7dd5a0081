package payment

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
)

// Purse says whose noise each stage of a run has, makes the run's charges, and remembers those that were made.
type Purse struct {
	book    *Book
	task    *Task
	attempt Attempt
	settled map[string]bool // the only ids that may be paid, of a finished run that is made again; nil: any

	mu        sync.Mutex
	earlier   map[string]*Earlier // runs whose noise stages have
	addresses map[string]string   // by stage, and of the dataset; on the owner's side
	charges   []record.Charge
	before    []string        // ids of charges of this run that the ledger held already
	own       map[string]bool // ids that the ledger held for this run when begun looked, or that were written since
	head      ledger.Head
}

// NewPurse returns the purse of a run that carries out a task. A non-nil probe of the attempt observes every mechanism
// (tests only).
func NewPurse(b *Book, t *Task, a Attempt) *Purse {
	p := &Purse{book: b, task: t, attempt: a, earlier: map[string]*Earlier{}, addresses: map[string]string{},
		own: map[string]bool{}}
	if a.Again != nil {
		p.settled = map[string]bool{}
		for _, c := range a.Again.Charges {
			p.settled[c.ID] = true
		}
	}
	return p
}

// Afford refuses what the run has yet to pay where the budget of the dataset does not cover it, before
// anything is spent.
func (p *Purse) Afford() error { return p.book.Afford(p) }

// Paid lists the charges in the order in which they were made, and the head of the ledger
// after the last of them.
func (p *Purse) Paid() ([]record.Charge, ledger.Head) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.charges), p.head
}

// Before lists the ids of the run's own charges that an earlier attempt of it had paid.
func (p *Purse) Before() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.before)
}

// charge returns what a spend of a step costs the run of an id, on the noise before it.
func (p *Purse) charge(run string, s *compile.Step, spend *pipeline.Planned) ledger.Charge {
	return p.task.charge(run, s, spend, p.basis(s))
}

// charge returns what a spend of a step costs the run of an id. The id of the charge holds the recipe and the basis:
// another recipe is another charge, even in the same run, and so is the same one on other noise.
func (t *Task) charge(run string, s *compile.Step, spend *pipeline.Planned, basis string) ledger.Charge {
	recipe := t.Recipes[s.ID]
	digested := recipe
	if basis != "" {
		digested = privacy.Digest([]byte(recipe + basis))
	}
	c := ledger.Charge{ID: fmt.Sprintf("%s/%s/%s/%s", run, s.ID, spend.Name, short(digested)), Run: run,
		Spec: t.Plan.Digest, Stage: s.ID, Name: spend.Name, Recipe: recipe, Version: t.Dataset.Version,
		Unit: unitOf(t.Plan), Adjacency: t.Plan.Adjacency, Event: spend.Event.Event, Published: s.Published,
		Unproven: s.Unproven.String()}
	if c.Unproven != "" {
		c.Event = nil // no bound is proven, so there is no event to add up
	}
	return c
}

// ErrElsewhere is returned where another process made a charge of this run after this one had looked.
var ErrElsewhere = errors.New("a copy of this run's folder, continued elsewhere, has charged this stage meanwhile; " +
	"nothing is drawn here. Use what the other copy made, or --fresh draws new noise, for a charge")

// pay records a charge, synced. One that an interrupted attempt of this run, or the
// earlier run whose noise it is, has paid is not paid again: the noise is the same. A charge of this run's id that
// begun did not find is a copy's, of which nothing says that its inputs were the same.
func (p *Purse) pay(s *compile.Step, spend *pipeline.Planned) error {
	if earlier := p.Earlier(s); earlier != nil {
		return p.take(s, spend, earlier.Run)
	}
	c := p.charge(p.attempt.ID, s, spend)
	if p.settled != nil && !p.settled[c.ID] {
		return fmt.Errorf("%w. --fresh draws new noise", ErrNewCharge)
	}
	if p.book.ledger == nil {
		p.note(c, spend.Event, nil, ledger.Head{}) // the same noise again releases nothing new
		return nil
	}
	entries, head, before, err := p.book.append(c)
	if err == nil {
		err = p.claim(c.ID, before)
	}
	if err != nil {
		return p.asBegun(err)
	}
	p.note(c, spend.Event, entries, head)
	return nil
}

// claim takes a charge for this run's own; before says that the ledger held it already.
func (p *Purse) claim(id string, before bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case before && !p.own[id]:
		return fmt.Errorf("%s: %w", id, ErrElsewhere)
	case before:
		p.before = append(p.before, id)
	default:
		p.own[id] = true
	}
	return nil
}

// hasBegun reports whether the ledger holds any charge that this run made for a stage of this recipe, whatever noise
// that stood on. From then on pay takes those on the same noise for its own: the caller has to hold against its
// folder what they stand on.
func (p *Purse) hasBegun(s *compile.Step) (hasBegun bool, err error) {
	entries, _, err := p.book.read()
	for i := range s.Spends {
		c := p.charge(p.attempt.ID, s, &s.Spends[i])
		hasBegun = hasBegun || includes(entries, c, sameNoise)
		if includes(entries, c, paid) {
			p.mu.Lock()
			p.own[c.ID] = true
			p.mu.Unlock()
		}
	}
	return hasBegun, err
}

// ErrUncharged is returned where the ledger lacks the charge of an earlier run whose noise a stage has.
var ErrUncharged = errors.New("the charge of an earlier run, whose noise this stage has, is not in the ledger; " +
	"nothing of it is used")

// take notes the charge of an earlier run, which the ledger has to hold.
func (p *Purse) take(s *compile.Step, spend *pipeline.Planned, run string) error {
	c := p.charge(run, s, spend)
	if p.book.ledger == nil { // a replay
		p.note(c, spend.Event, nil, ledger.Head{})
		return nil
	}
	entries, head, err := p.book.read()
	if err == nil && !includes(entries, c, paid) {
		err = fmt.Errorf("%s: %w", c.ID, ErrUncharged)
	}
	if err != nil {
		return err
	}
	p.note(c, spend.Event, entries, head)
	return nil
}

// charged reports whether the ledger holds the charges that the run of an id made for a stage of this recipe
// on the same noise.
func (p *Purse) charged(run string, s *compile.Step) bool { return p.ledgerHas(run, s, paid) }

// hasDrawn reports whether the ledger holds the charges that this run made for a stage of this recipe, whatever
// noise that stood on.
func (p *Purse) hasDrawn(s *compile.Step) bool { return p.ledgerHas(p.attempt.ID, s, sameNoise) }

func (p *Purse) ledgerHas(run string, s *compile.Step, same func(ledger.Entry, ledger.Charge) bool) bool {
	if p.task.Plan.Budget.Infinite() {
		return true // nothing is charged, and nothing released
	}
	entries, _, err := p.book.read()
	for i := range s.Spends {
		if err != nil || !includes(entries, p.charge(run, s, &s.Spends[i]), same) {
			return false
		}
	}
	return p.book.ledger != nil
}

// includes reports whether an entry of the ledger is the same as a charge: paid or drawn.
func includes(entries []ledger.Entry, c ledger.Charge, same func(ledger.Entry, ledger.Charge) bool) bool {
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return same(e, c) })
}

// paid reports whether an entry is a charge.
func paid(e ledger.Entry, c ledger.Charge) bool { return e.ID == c.ID && sameNoise(e, c) }

// sameNoise reports whether an entry is of the run, recipe and event of a charge, whatever noise it stands on.
func sameNoise(e ledger.Entry, c ledger.Charge) bool {
	return e.Run == c.Run && e.Stage == c.Stage && e.Name == c.Name && e.Recipe == c.Recipe &&
		store.Compact(e.Event) == store.Compact(privacy.JSON{Event: c.Event})
}

// PayAll records every charge of a stage whose output is taken from the cache:
// what is released stands in the ledger, whatever became of it meanwhile.
func (p *Purse) PayAll(s *compile.Step) error {
	if p.task.Plan.Budget.Infinite() {
		return nil
	}
	for i := range s.Spends {
		if err := p.pay(s, &s.Spends[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *Purse) note(paid ledger.Charge, event privacy.JSON, entries []ledger.Entry, head ledger.Head) {
	c := record.Charge{Stage: paid.Stage, Name: paid.Name, Event: event, ID: paid.ID}
	if paid.Run != p.attempt.ID {
		c.Run = paid.Run
	}
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
	var overBudget *ledger.OverBudgetError
	var unmeasured *ledger.UnmeasuredError
	p.mu.Lock()
	defer p.mu.Unlock()
	ours := slices.ContainsFunc(p.charges, func(c record.Charge) bool { return c.Run == "" })
	if errors.As(err, &overBudget) {
		overBudget.Begun = ours
	}
	if errors.As(err, &unmeasured) {
		unmeasured.Begun = ours
	}
	return err
}

// short returns enough of a digest to tell recipes of one stage apart.
func short(digest string) string {
	const prefix = len("sha256:")
	if len(digest) < prefix+16 {
		return digest
	}
	return digest[prefix : prefix+16]
}
