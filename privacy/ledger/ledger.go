package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrCharged marks a charge whose id is in the ledger already: noise is named by
// its charge, and paid once.
var ErrCharged = errors.New("this charge is in the ledger already")

// Ledger is an open ledger. Its methods may be called by several goroutines, and
// several processes may have the same file open: each Append locks it, reads
// what others have added, and only then decides.
type Ledger struct {
	mu      sync.Mutex
	store   Store
	dataset string
	clock   func() time.Time
	raw     []byte // the file as last read, whole lines
	entries []Entry
	removed []Remnant
}

// newLedger reads and checks the ledger of a dataset, named by its random id; "" takes
// the id that the file states, which must then hold a charge. With an id, an
// absent or empty file is a ledger without charges. A last line that a crash cut
// short is set aside and removed: its Append never returned, so no noise was drawn for it.
func newLedger(store Store, dataset string, clock func() time.Time) (*Ledger, error) {
	if dataset != "" {
		if err := validDataset(dataset); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
	}
	l := &Ledger{store: store, dataset: dataset, clock: clock}
	return l, l.locked(l.read)
}

// locked runs f while no other goroutine or process changes the ledger.
func (l *Ledger) locked(f func() error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.store.Lock()
	if err != nil {
		return fmt.Errorf("ledger: lock: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return f()
}

// read brings l up to date with the file, and repairs its end.
func (l *Ledger) read() error {
	data, err := l.store.ReadAll()
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	known, before := l.raw, l.entries
	if !bytes.HasPrefix(data, known) {
		known, before = nil, nil
	}
	entries, rest, err := parse(data[len(known):], before, l.dataset)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := l.adopt(entries); err != nil {
		return err
	}
	if data, err = l.mend(data, rest, len(entries)+1); err != nil {
		return fmt.Errorf("ledger: the truncated last line could not be repaired: %w", err)
	}
	l.raw, l.entries = data, entries
	return nil
}

// adopt checks that the entries are of l's dataset, which they name if l does not.
func (l *Ledger) adopt(entries []Entry) error {
	switch {
	case len(entries) == 0 && l.dataset == "":
		return errors.New("ledger: dataset: is missing, must be named for a ledger without charges")
	case len(entries) == 0:
		return nil
	case l.dataset == "":
		l.dataset = entries[0].Dataset
	case entries[0].Dataset != l.dataset:
		return fmt.Errorf("ledger: is of dataset %s, must be of %s; each dataset has a ledger of its own", entries[0].Dataset, l.dataset)
	}
	return nil
}

// Dataset returns the id of the dataset.
func (l *Ledger) Dataset() string { return l.dataset }

// mend removes the rest, which ends the file and is kept aside first, and ends the last line.
func (l *Ledger) mend(data, rest []byte, line int) ([]byte, error) {
	data = data[:len(data)-len(rest)]
	if len(rest) > 0 {
		path, err := l.store.Aside(rest)
		if err != nil {
			return data, err
		}
		if err := errors.Join(l.store.Truncate(int64(len(data))), l.store.Sync()); err != nil {
			return data, err
		}
		l.removed = append(l.removed, Remnant{line, len(rest), path})
	}
	if len(data) == 0 || data[len(data)-1] == '\n' {
		return data, nil
	}
	if err := errors.Join(l.store.Append([]byte("\n")), l.store.Sync()); err != nil {
		return data, err
	}
	return append(data[:len(data):len(data)], '\n'), nil
}

// Append records charges, all of them or none, and returns when they are on disk;
// only then may noise be drawn. With a cap, charges that would pass it are
// refused with an *OverBudgetError and nothing is written.
func (l *Ledger) Append(limit *Cap, charges ...Charge) (written []Entry, err error) {
	err = l.locked(func() error {
		if err := l.read(); err != nil {
			return err
		}
		added, err := l.admit(limit, charges)
		if err != nil {
			return err
		}
		written, err = added, l.write(added)
		return err
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// chain turns charges into the entries that follow the last.
func (l *Ledger) chain(charges []Charge, by admission) ([]Entry, error) {
	used := make(map[string]int, len(l.entries))
	for i, e := range l.entries {
		used[e.ID] = i + 1
	}
	prev, now := l.head().Hash, l.clock().UTC().Round(0)
	var added []Entry
	for _, c := range charges {
		if line, ok := used[c.ID]; ok {
			return nil, fmt.Errorf("ledger: charge %q: %w, in line %d", c.ID, ErrCharged, line)
		}
		e := c.entry(l.dataset, now, by)
		e.Prev = prev
		if err := e.valid(); err != nil {
			return nil, fmt.Errorf("ledger: charge %q: %w", c.ID, err)
		}
		e, err := e.seal()
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		added, prev, used[c.ID] = append(added, e), e.Hash, len(l.entries)+len(added)+1
	}
	return added, nil
}

// write appends and syncs. After an error it takes back what it can; what stays
// in the file overstates what was spent, and the next read finds it.
func (l *Ledger) write(added []Entry) error {
	var text []byte
	for _, e := range added {
		line, err := e.line()
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		if _, err := parseLine(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return fmt.Errorf("ledger: charge %q cannot be written so that it reads back: it %w", e.ID, err)
		}
		text = append(text, line...)
	}
	if err := l.store.Append(text); err != nil {
		return errors.Join(fmt.Errorf("ledger: nothing was charged: %w", err), l.store.Truncate(int64(len(l.raw))))
	}
	if err := l.store.Sync(); err != nil {
		return fmt.Errorf("ledger: no noise was drawn, though the charge may be in the file: %w", err)
	}
	l.raw, l.entries = append(l.raw, text...), append(l.entries, added...)
	return nil
}

// Refresh reads what others have added.
func (l *Ledger) Refresh() error { return l.locked(l.read) }

// Entries returns the charges in order, as last read.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.entries...)
}

// Removed lists what was removed from the file and kept aside.
func (l *Ledger) Removed() []Remnant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.removed)
}
