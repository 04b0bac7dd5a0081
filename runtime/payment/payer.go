package payment

import (
	"errors"
	"fmt"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/runtime/store"
)

// Payer opens the planned mechanisms of one stage, each once, and says at
// the end whether what was promised was done.
type Payer struct {
	purse *Purse
	step  *compile.Step
	drawn store.Uses // of an interrupted attempt that left a checkpoint

	mu     sync.Mutex
	opened map[string]*privacy.Handle
	fault  error
}

// Payer returns the payer of one stage, which goes on after what was drawn of its mechanisms, and notes that the
// stage is about to be charged.
func (p *Purse) Payer(step *compile.Step, drawn store.Uses) (*Payer, error) {
	return &Payer{purse: p, step: step, drawn: drawn, opened: map[string]*privacy.Handle{}}, p.announce(step)
}

// key returns the key of the run which pays.
func (p *Payer) key() noise.Key {
	if earlier := p.purse.Earlier(p.step); earlier != nil {
		return *earlier.Key
	}
	return p.purse.attempt.Key
}

// Open records the charge, synced, and returns the handle of the mechanism.
// Without privacy (epsilon: inf) there is nothing to pay and nothing released.
func (p *Payer) Open(name string) (*privacy.Handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	planned, err := p.planned(name)
	if err != nil {
		p.fault = errors.Join(p.fault, err)
		return nil, err
	}
	if !p.purse.task.Plan.Budget.Infinite() {
		if err := p.purse.pay(p.step, planned); err != nil {
			return nil, err
		}
	}
	// The name of the noise has recipe and basis in it and no run: the key belongs to the run which
	// pays. Another computation under it, or the same one on the noise of another run, draws other
	// noise, and the same computation under the same keys (a resumed run, a replay) the same.
	var probe privacy.Probe
	if p.purse.attempt.Probe != nil {
		probe = p.purse.attempt.Probe(p.step.ID)
	}
	h := privacy.Open(privacy.Opening{Spend: name, Mechanism: planned.Value, Drawn: p.drawn[name], Probe: probe,
		Source: noise.NewSource(p.key(), p.purse.noiseName(p.step)+"/"+name)})
	p.opened[name] = h
	return h, nil
}

func (p *Payer) planned(name string) (*pipeline.Planned, error) {
	if p.opened[name] != nil {
		return nil, breach(fmt.Sprintf("the mechanism %s is opened twice, must be opened once (W14)", name))
	}
	for i := range p.step.Spends {
		if p.step.Spends[i].Name == name {
			return &p.step.Spends[i], nil
		}
	}
	return nil, breach(fmt.Sprintf("the stage opens the mechanism %q, which its plan does not have (W14)", name))
}

// breach says which promise of its plan a stage broke: it is a privacy.ErrUses.
type breach string

func (b breach) Error() string { return string(b) }

// Is implements the interface of errors.Is.
func (b breach) Is(err error) bool { return err == privacy.ErrUses }

// Released returns how many uses of each mechanism have released by now.
func (p *Payer) Released() store.Uses {
	p.mu.Lock()
	defer p.mu.Unlock()
	uses := store.Uses{}
	for name, h := range p.opened {
		uses[name] = h.Released()
	}
	return uses
}

// Close reports whether the stage spent exactly what its plan lists. After an
// error nothing of its output may be kept.
func (p *Payer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil {
		return p.fault
	}
	if n := len(p.step.Spends); len(p.opened) != n {
		return breach(fmt.Sprintf("the stage spent %d of %d planned charges (W14); nothing of it is kept", len(p.opened), n))
	}
	for _, s := range p.step.Spends {
		if err := p.opened[s.Name].Close(); err != nil {
			return fmt.Errorf("%w; nothing of the stage is kept", err)
		}
	}
	return nil
}

// Secrets hands out the unpaid secret draws of one stage. Their name says all that the rows they fall to rest
// on, so that two runs share them only where they read equal rows (docs/design/secrets.md).
type Secrets struct {
	source  *noise.Source
	planned bool
	mu      sync.Mutex
	fault   error
}

// NewSecrets returns the secrets of this name; planned says whether the stage may draw any.
func NewSecrets(key noise.Key, name string, planned bool) *Secrets {
	return &Secrets{source: noise.NewSource(key, name), planned: planned}
}

// Stream returns the secret of one purpose.
func (s *Secrets) Stream(purpose string) *noise.Stream {
	st, err := s.source.Stream(purpose, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.planned {
		err = errors.Join(err, breach(fmt.Sprintf("the stage draws the secret %q, but its plan draws none", purpose)))
	}
	s.fault = errors.Join(s.fault, err)
	return st
}

// Close reports whether a secret was drawn that was not planned, or twice.
func (s *Secrets) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}
