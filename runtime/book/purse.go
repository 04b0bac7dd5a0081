package book

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
	"weir/runtime/store"
)

// Purse makes the charges of one run, and remembers those that were made.
type Purse struct {
	plan    *compile.Plan
	of      Dataset
	run     string
	key     noise.Key
	probe   func(stage string) privacy.Probe
	account *Account // nil: nothing is charged, as in a replay

	settled map[string]bool            // the only ids that may be paid; nil: any
	earlier map[string]string          // stages that were paid for, and the run that did
	recipes map[string]string          // of all stages
	basis   func(*compile.Step) string // whose noise one stands on; "" is none

	mu      sync.Mutex
	charges []record.Charge
	before  []string        // of charges, ids of those of this run that the ledger held already
	own     map[string]bool // ids that the ledger held for this run when Begun looked, or that were written since
	head    ledger.Head
}

// NewPurse is that of the run of this name. probe gives who looks on at the mechanisms of a
// stage; it is nil where nobody may.
func NewPurse(plan *compile.Plan, of Dataset, run string, key noise.Key, probe func(stage string) privacy.Probe) *Purse {
	return &Purse{plan: plan, of: of, run: run, key: key, probe: probe, basis: func(*compile.Step) string { return "" }}
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

// Earlier says which stages another run has paid for, whose noise is taken again: they are
// no part of what the run has yet to pay.
func (p *Purse) Earlier(runs map[string]string) { p.earlier = runs }

// Recipes says what the stages are about to do, by which the ledger knows what is paid. basis says whose noise
// a stage stands on, "" on none, and is asked when the stage is looked for or paid: by then those before it are
// decided.
func (p *Purse) Recipes(of map[string]string, basis func(*compile.Step) string) {
	p.recipes, p.basis = of, basis
}

// name is what the noise of a step follows from, beside the key: another recipe, or the same one on other noise
// than before, has other noise.
func (p *Purse) name(s *compile.Step) string { return p.recipes[s.ID] + p.basis(s) }

// From takes the charges from an account.
func (p *Purse) From(a *Account) { p.account = a }

// Afford refuses what the run has yet to pay where the budget of the dataset does not cover it, before
// anything is spent.
func (p *Purse) Afford() error {
	if p.account == nil {
		return nil
	}
	return p.account.Afford(p)
}

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

// charge is what a spend of a step costs the run of this name. Its id holds the recipe and the basis: another
// recipe is another charge, even in the same run, and so is the same one on other noise.
func (p *Purse) charge(run string, s *compile.Step, spend *pipeline.Planned) ledger.Charge {
	recipe := p.recipes[s.ID]
	named := recipe
	if name := p.name(s); name != recipe {
		named = privacy.Digest([]byte(name))
	}
	c := ledger.Charge{ID: fmt.Sprintf("%s/%s/%s/%s", run, s.ID, spend.Name, short(named)), Run: run, Spec: p.plan.Digest,
		Stage: s.ID, Name: spend.Name, Recipe: recipe, Version: p.of.Version, Unit: unitOf(p.plan), Adjacency: p.plan.Adjacency,
		Event: spend.Event.Event, Published: s.Published, Unproven: s.Unproven.String()}
	if c.Unproven != "" {
		c.Event = nil // no bound is proven, so there is no event to add up
	}
	return c
}

// ErrElsewhere is a charge of this run that another process made after this one had looked.
var ErrElsewhere = errors.New("a copy of this run's folder, continued elsewhere, has charged this stage meanwhile; " +
	"nothing is drawn here. Use what the other copy made, or --fresh draws new noise, for a charge")

// pay records a charge, synced. One that an interrupted attempt of this run, or the
// earlier run whose noise it is, has paid is not paid again: the noise is the same. A charge of this run's name that
// Begun did not find is a copy's, of which nothing says that its inputs were the same.
func (p *Purse) pay(s *compile.Step, spend *pipeline.Planned, from *Earlier) error {
	if from != nil {
		return p.take(s, spend, from.Run)
	}
	c := p.charge(p.run, s, spend)
	if p.settled != nil && !p.settled[c.ID] {
		return fmt.Errorf("%w. --fresh draws new noise", ErrNewCharge)
	}
	if p.account == nil {
		p.note(c, spend.Event, nil, ledger.Head{}) // the same noise again releases nothing new
		return nil
	}
	entries, head, before, err := p.account.append(c)
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
		p.hold(id)
	}
	return nil
}

func (p *Purse) hold(id string) {
	if p.own == nil {
		p.own = map[string]bool{}
	}
	p.own[id] = true
}

// Begun reports whether the ledger holds any charge that this run made for a stage of this recipe, whatever noise
// that stood on. From then on pay takes those on the same noise for its own: the caller has to hold against its
// folder what they stand on.
func (p *Purse) Begun(s *compile.Step) (begun bool, err error) {
	if p.account == nil {
		return false, nil
	}
	entries, _, err := p.account.read()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range s.Spends {
		c := p.charge(p.run, s, &s.Spends[i])
		if begun = begun || includes(entries, c, drawn); includes(entries, c, paid) {
			p.hold(c.ID)
		}
	}
	return begun, err
}

// ErrUncharged is a charge of an earlier run that the ledger does not hold.
var ErrUncharged = errors.New("the charge of an earlier run, whose noise this stage has, is not in the ledger; nothing of it is used")

// take notes the charge of an earlier run, which the ledger has to hold.
func (p *Purse) take(s *compile.Step, spend *pipeline.Planned, run string) error {
	c := p.charge(run, s, spend)
	if p.account == nil { // a replay
		p.note(c, spend.Event, nil, ledger.Head{})
		return nil
	}
	entries, head, err := p.account.read()
	if err == nil && !includes(entries, c, paid) {
		err = fmt.Errorf("%s: %w", c.ID, ErrUncharged)
	}
	if err != nil {
		return err
	}
	p.note(c, spend.Event, entries, head)
	return nil
}

// Charged reports whether the ledger holds the charges that a run of this name made for a stage of this recipe
// on the same noise.
func (p *Purse) Charged(run string, s *compile.Step) bool { return p.holds(run, s, paid) }

// Drawn reports whether the ledger holds the charges that this run made for a stage of this recipe, whatever
// noise that stood on.
func (p *Purse) Drawn(s *compile.Step) bool { return p.holds(p.run, s, drawn) }

func (p *Purse) holds(run string, s *compile.Step, is func(ledger.Entry, ledger.Charge) bool) bool {
	if p.plan.Budget.Infinite() {
		return true // nothing is charged, and nothing released
	}
	if p.account == nil {
		return false
	}
	entries, _, err := p.account.read()
	for i := range s.Spends {
		if err != nil || !includes(entries, p.charge(run, s, &s.Spends[i]), is) {
			return false
		}
	}
	return true
}

// includes reports whether an entry of the ledger is what is asked of a charge: paid or drawn.
func includes(entries []ledger.Entry, c ledger.Charge, is func(ledger.Entry, ledger.Charge) bool) bool {
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return is(e, c) })
}

// paid reports whether an entry is a charge.
func paid(e ledger.Entry, c ledger.Charge) bool { return e.ID == c.ID && drawn(e, c) }

// drawn reports whether an entry is of the run, recipe and event of a charge, whatever noise it stands on.
func drawn(e ledger.Entry, c ledger.Charge) bool {
	return e.Run == c.Run && e.Stage == c.Stage && e.Name == c.Name && e.Recipe == c.Recipe &&
		store.Compact(e.Event) == store.Compact(privacy.JSON{Event: c.Event})
}

// PayAll records every charge of a stage whose output is taken from the cache:
// what is released stands in the ledger, whatever became of it meanwhile.
func (p *Purse) PayAll(s *compile.Step, from *Earlier) error {
	if p.plan.Budget.Infinite() {
		return nil
	}
	for i := range s.Spends {
		if err := p.pay(s, &s.Spends[i], from); err != nil {
			return err
		}
	}
	return nil
}

func (p *Purse) note(paid ledger.Charge, event privacy.JSON, entries []ledger.Entry, head ledger.Head) {
	c := record.Charge{Stage: paid.Stage, Name: paid.Name, Event: event, ID: paid.ID}
	if paid.Run != p.run {
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
	var over *ledger.OverBudgetError
	var unmeasured *ledger.UnmeasuredError
	p.mu.Lock()
	defer p.mu.Unlock()
	begun := slices.ContainsFunc(p.charges, func(c record.Charge) bool { return c.Run == "" })
	if errors.As(err, &over) {
		over.Begun = begun
	}
	if errors.As(err, &unmeasured) {
		unmeasured.Begun = begun
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
