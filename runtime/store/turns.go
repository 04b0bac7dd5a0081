package store

import "sync"

// Turns lets runs that share a cache make what lies under one address one after the other:
// the first makes it, and the others find it.
type Turns struct {
	mu   sync.Mutex
	held map[string]*sync.Mutex
}

// NewTurns are turns that nobody has taken.
func NewTurns() *Turns { return &Turns{held: map[string]*sync.Mutex{}} }

// Take waits for the turn of a name and returns what ends it. Nil turns are everyone's.
func (t *Turns) Take(name string) (done func()) {
	if t == nil {
		return func() {}
	}
	t.mu.Lock()
	turn := t.held[name]
	if turn == nil {
		turn = &sync.Mutex{}
		t.held[name] = turn
	}
	t.mu.Unlock()
	turn.Lock()
	return turn.Unlock
}
