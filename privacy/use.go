package privacy

import "weir/privacy/noise"

// Use is one use of a paid mechanism: its streams, and the place where a test
// sees what goes in and what comes out.
type Use struct {
	h      *Handle
	index  int64
	source *noise.Source
	done   bool // it has released
}

// Stream returns a fresh stream of the use. One that is requested twice holds
// other numbers the second time, which is a fault that Handle.Close reports.
func (u *Use) Stream(purpose string, index uint64) *noise.Stream {
	if w, ok := u.h.o.Probe.(Watcher); ok {
		w.Stream(u.h.o.Spend, u.index, purpose, index)
	}
	st, err := u.source.Stream(purpose, index)
	if err != nil {
		u.h.mu.Lock()
		defer u.h.mu.Unlock()
		u.h.fails("%w", err)
	}
	return st
}

// released counts the release of a use.
func (u *Use) released() {
	u.h.mu.Lock()
	defer u.h.mu.Unlock()
	if u.done {
		u.h.fails("%w: use %d of %s releases twice", ErrUses, u.index+1, u.h.o.Spend)
	}
	u.done = true
	u.h.released++
}

// Probed reports whether a test looks on, so that others need not copy what
// went in.
func (u *Use) Probed() bool { return u.h.o.Probe != nil }

// Release hands on what came out of a use, of what went in before any noise. A
// mechanism calls it once for each use that it takes; Handle.Close reports a use
// that released nothing, or twice. Only mechanisms call it (deps_test.go).
func Release[In, Out any](u *Use, in In, out Out) Out {
	u.released()
	if u.h.o.Probe == nil {
		return out
	}
	replaced := u.h.o.Probe.Release(Released{Spend: u.h.o.Spend, Mechanism: u.h.o.Mechanism, Use: u.index, In: in, Out: out})
	other, ok := replaced.(Out)
	if !ok { // a test that replaces nothing would pass for one that does
		u.h.mu.Lock()
		defer u.h.mu.Unlock()
		u.h.fails("use %d of %s: the probe gives %T for %T", u.index+1, u.h.o.Spend, replaced, out)
		return out
	}
	return other
}
