package privacy

import (
	"errors"
	"fmt"
	"sync"

	"weir/privacy/noise"
)

// ErrUses marks a mechanism that was used more or less often than planned (W14).
var ErrUses = errors.New("the uses of a mechanism differ from its plan (W14)")

// Handle is a mechanism that has been paid for. It gives out its uses, each once, and
// knows at the end whether all of them were taken.
type Handle struct {
	o        Opening
	mu       sync.Mutex
	taken    []uint64 // a bit for each use
	next     int64
	count    int64
	released int64 // of the uses, or skipped by Resume
	spent    sum   // of a filter's total
	fault    error
}

// Open makes the handle of a mechanism. Only payers and tests call it
// (deps_test.go).
func Open(o Opening) *Handle { return &Handle{o: o} }

// Spend returns the name that the plan gives the mechanism.
func (h *Handle) Spend() string { return h.o.Spend }

// Mechanism returns the planned value, from which every parameter of a use comes.
func (h *Handle) Mechanism() Mechanism { return h.o.Mechanism }

// Use takes use i, counted from 0. Each can be taken once.
func (h *Handle) Use(i int64) (*Use, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.planned(i)
}

// Next takes the first use after those taken by Next before.
func (h *Handle) Next() (*Use, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	return h.planned(h.next - 1)
}

// planned keeps filters to their rounds: a use without a cost would be free.
func (h *Handle) planned(i int64) (*Use, error) {
	if _, ok := h.o.Mechanism.(Filter); ok {
		return nil, h.fails("%w: %s is a filter, each round of it has a cost", ErrUses, h.o.Spend)
	}
	return h.use(i)
}

// Round takes a use of a filter for the given part of its total.
func (h *Handle) Round(cost float64) (*Use, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := h.o.Mechanism.(Filter)
	switch {
	case !ok:
		return nil, h.fails("%w: %s has no rounds, it is not a filter", ErrUses, h.o.Spend)
	case !(cost > 0):
		return nil, h.fails("%w: a round of %s costs %g, must cost more than 0", ErrUses, h.o.Spend, cost)
	case !(h.spent.plus(cost).value() <= f.Total()*(1+filterSlack)):
		return nil, h.fails("%w: a round of %s costs %.6g and %.6g of %.6g is left", ErrUses, h.o.Spend, cost,
			max(0, f.Total()-h.spent.value()), f.Total())
	}
	h.spent = h.spent.plus(cost)
	h.next++
	return h.use(h.next - 1)
}

// filterSlack forgives the rounding of a sum of costs that was cut from the total:
// 2^-40 of a total is 2^-41 of an epsilon of order 1, below what any number shows.
const filterSlack = 0x1p-40

// sum adds up costs together with what rounding leaves of each (Knuth 1969, TwoSum):
// many small costs that float64 swallows would be free.
type sum struct{ high, low float64 }

func (s sum) plus(x float64) sum {
	high := s.high + x
	added := high - s.high
	return sum{high, s.low + ((s.high - (high - added)) + (x - added))}
}

func (s sum) value() float64 { return s.high + s.low }

// Left returns what remains of a filter's total.
func (h *Handle) Left() float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f, ok := h.o.Mechanism.(Filter); ok {
		return max(0, f.Total()-h.spent.value())
	}
	return 0
}

// Resume says that the first n uses were taken by an interrupted attempt of the
// same recipe, whose checkpoint the caller has read. Without one it is refused.
func (h *Handle) Resume(n int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n == 0 {
		return nil
	}
	if !h.canResume(n) {
		return h.fails("%w: %s continues after %d uses that nobody took", ErrUses, h.o.Spend, n)
	}
	for i := range n {
		h.mark(i)
	}
	h.next, h.released = n, n
	return nil
}

// CanResume reports whether Resume would take n.
func (h *Handle) CanResume(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return n == 0 || h.canResume(n)
}

func (h *Handle) canResume(n int64) bool {
	return h.count == 0 && n >= 0 && n <= h.o.Drawn && n <= h.o.Mechanism.Uses()
}

func (h *Handle) use(i int64) (*Use, error) {
	if n := h.o.Mechanism.Uses(); i < 0 || n != AnyNumber && i >= n {
		return nil, h.fails("%w: %s is used for the %s time, planned are %d", ErrUses, h.o.Spend, ordinal(i+1), n)
	}
	if h.marked(i) {
		return nil, h.fails("%w: use %d of %s is taken twice", ErrUses, i+1, h.o.Spend)
	}
	h.mark(i)
	return &Use{h: h, index: i, source: h.o.Source.Use(uint64(i))}, nil
}

func (h *Handle) marked(i int64) bool {
	return i>>6 < int64(len(h.taken)) && h.taken[i>>6]>>(i&63)&1 == 1
}

func (h *Handle) mark(i int64) {
	for i>>6 >= int64(len(h.taken)) {
		h.taken = append(h.taken, 0)
	}
	h.taken[i>>6] |= 1 << (i & 63)
	h.count++
}

// fails keeps the first fault, so that a caller who drops an error is found out
// at the end; h.mu is held.
func (h *Handle) fails(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if h.fault == nil {
		h.fault = err
	}
	return err
}

// Close reports whether the mechanism was used as planned: neither more often,
// nor less, nor with a stream of noise twice. After an error nothing that the
// stage made may be kept.
func (h *Handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.o.Mechanism.Uses()
	switch {
	case h.fault != nil:
		return h.fault
	case h.released != h.count:
		return fmt.Errorf("%w: %s was used %d times and released %d times", ErrUses, h.o.Spend, h.count, h.released)
	case n != AnyNumber && h.count != n:
		return fmt.Errorf("%w: %s was used %d of %d planned times", ErrUses, h.o.Spend, h.count, n)
	}
	return nil
}

// Released counts the uses that have released so far, the uses of an interrupted
// attempt included: what a checkpoint written now may claim.
func (h *Handle) Released() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.released
}

// Taken counts the uses so far, for tests of filters, whose plan does not say.
func (h *Handle) Taken() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

func ordinal(n int64) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

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
	replaced := u.h.o.Probe.Release(Released{Spend: u.h.o.Spend, Mechanism: u.h.o.Mechanism, Use: u.index, In: in,
		Out: out})
	other, ok := replaced.(Out)
	if !ok { // a test that replaces nothing would pass for one that does
		u.h.mu.Lock()
		defer u.h.mu.Unlock()
		u.h.fails("use %d of %s: the probe gives %T for %T", u.index+1, u.h.o.Spend, replaced, out)
		return out
	}
	return other
}
