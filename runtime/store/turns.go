package store

import "sync"

// Turns lets runs that share a cache make what lies under one name one after the other: the
// first makes it, and the others find it.
type Turns struct{ held sync.Map } // of *sync.Mutex

// Take waits for the turn of a name and returns what ends it. Nil turns are everyone's.
func (t *Turns) Take(name string) (done func()) {
	if t == nil {
		return func() {}
	}
	turn, _ := t.held.LoadOrStore(name, &sync.Mutex{})
	turn.(*sync.Mutex).Lock()
	return turn.(*sync.Mutex).Unlock
}
