package runtime

import (
	"errors"
	"fmt"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/noise"
)

// stagePayer opens the planned mechanisms of one stage, each once, and says at
// the end whether what was promised was done.
type stagePayer struct {
	run    *run
	step   *compile.Step
	recipe string
	drawn  uses // of an interrupted attempt that left a checkpoint

	mu     sync.Mutex
	opened map[string]*privacy.Handle
	fault  error
}

func newStagePayer(r *run, step *compile.Step, drawn uses) *stagePayer {
	return &stagePayer{run: r, step: step, recipe: r.recipe(step), drawn: drawn, opened: map[string]*privacy.Handle{}}
}

// Open records the charge, synced, and returns the handle of the mechanism.
// Without privacy (epsilon: inf) there is nothing to pay and nothing released.
func (p *stagePayer) Open(name string) (*privacy.Handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	planned, err := p.planned(name)
	if err != nil {
		p.fault = errors.Join(p.fault, err)
		return nil, err
	}
	if !p.run.plan.Budget.Infinite() {
		if err := p.run.pay(p.step, planned); err != nil {
			return nil, err
		}
	}
	// The name of the noise has the recipe in it and no run: the key is the run's
	// own, another computation under it draws other noise, and the same computation
	// under the same key (a resumed run, a replay) the same.
	h := privacy.Open(privacy.Opening{Spend: name, Mechanism: planned.Value, Drawn: p.drawn[name], Probe: p.run.opts.probe(p.step.ID),
		Source: noise.NewSource(p.run.key, p.recipe+"/"+name)})
	p.opened[name] = h
	return h, nil
}

func (p *stagePayer) planned(name string) (*pipeline.Planned, error) {
	if p.opened[name] != nil {
		return nil, fmt.Errorf("the mechanism %s is opened twice, must be opened once (W14)", name)
	}
	for i := range p.step.Spends {
		if p.step.Spends[i].Name == name {
			return &p.step.Spends[i], nil
		}
	}
	return nil, fmt.Errorf("the stage opens the mechanism %q, which its plan does not have (W14)", name)
}

// released is how many uses of each mechanism have released by now.
func (p *stagePayer) released() uses {
	p.mu.Lock()
	defer p.mu.Unlock()
	so := uses{}
	for name, h := range p.opened {
		so[name] = h.Released()
	}
	return so
}

// close reports whether the stage spent exactly what its plan lists. After an
// error nothing of its output may be kept.
func (p *stagePayer) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil {
		return p.fault
	}
	if n := len(p.step.Spends); len(p.opened) != n {
		return fmt.Errorf("the stage spent %d of %d planned charges (W14); nothing of it is kept", len(p.opened), n)
	}
	for _, s := range p.step.Spends {
		if err := p.opened[s.Name].Close(); err != nil {
			return fmt.Errorf("%w; nothing of the stage is kept", err)
		}
	}
	return nil
}

// secrets are the unpaid secret draws of one stage, named by its recipe under the
// dataset's key, so that they fall alike in every run of the dataset.
type secrets struct {
	source  *noise.Source
	planned bool
	mu      sync.Mutex
	fault   error
}

func (r *run) secrets(step *compile.Step) *secrets {
	return &secrets{source: noise.NewSource(r.source.secret, "secret "+r.recipe(step)), planned: step.Work.Secret}
}

func (s *secrets) stream(purpose string) *noise.Stream {
	st, err := s.source.Stream(purpose, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.planned {
		err = errors.Join(err, fmt.Errorf("the stage draws the secret %q, and its plan draws none", purpose))
	}
	s.fault = errors.Join(s.fault, err)
	return st
}

func (s *secrets) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}
