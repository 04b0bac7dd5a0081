package pipelinetest

import (
	"errors"
	"fmt"
	"sync"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/noise"
)

// Ledger is a payer for tests. It opens the mechanisms that a stage plans, each
// once, and says at the end whether what was promised was done.
type Ledger struct {
	Key   noise.Key
	Plan  []pipeline.Planned // see pipeline.Price
	Probe privacy.Probe      // may be nil
	Drawn int64              // uses that an interrupted attempt had released when it left its checkpoint

	mu     sync.Mutex
	opened map[string]*privacy.Handle
	fault  error
}

// Open hands out the noise of a planned mechanism.
func (l *Ledger) Open(name string) (*privacy.Handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.planned(name)
	if p == nil || l.opened[name] != nil {
		err := fmt.Errorf("the mechanism %q is not planned, or opened twice", name)
		l.fault = errors.Join(l.fault, err)
		return nil, err
	}
	h := privacy.Open(privacy.Opening{Spend: name, Mechanism: p.Value, Source: noise.NewSource(l.Key, "test/"+name), Drawn: l.Drawn, Probe: l.Probe})
	if l.opened == nil {
		l.opened = map[string]*privacy.Handle{}
	}
	l.opened[name] = h
	return h, nil
}

func (l *Ledger) planned(name string) *pipeline.Planned {
	for i := range l.Plan {
		if l.Plan[i].Name == name {
			return &l.Plan[i]
		}
	}
	return nil
}

// Close reports whether each planned mechanism was opened and used as planned.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := []error{l.fault}
	if len(l.opened) != len(l.Plan) {
		errs = append(errs, fmt.Errorf("%d of %d planned mechanisms were opened", len(l.opened), len(l.Plan)))
	}
	for _, p := range l.Plan {
		if h := l.opened[p.Name]; h != nil {
			errs = append(errs, h.Close())
		}
	}
	return errors.Join(errs...)
}

// Taken counts the uses of a mechanism so far.
func (l *Ledger) Taken(name string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.opened[name]; h != nil {
		return h.Taken()
	}
	return 0
}

// Left is what remains of the total of a filter, for tests of stages that have to
// spend all of it.
func (l *Ledger) Left(name string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.opened[name]; h != nil {
		return h.Left()
	}
	return 0
}
