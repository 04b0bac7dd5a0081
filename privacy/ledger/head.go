package ledger

import (
	"errors"
	"fmt"
)

// Head commits to a ledger as it was: its length and the hash of its last line.
// A run record keeps the Head that its charges left, because a chain alone
// cannot show that its end was removed.
type Head struct {
	Count int    `json:"count"`
	Hash  string `json:"hash"`
}

// Head returns the head as last read.
func (l *Ledger) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head()
}

func (l *Ledger) head() Head {
	if n := len(l.entries); n > 0 {
		return Head{n, l.entries[n-1].Hash}
	}
	return Head{0, genesis(l.dataset)}
}

// Includes checks that a ledger still holds what it held when it had head h:
// directly, or as the origin of a line that a merge has moved.
func Includes(entries []Entry, h Head) error {
	if h.Count == 0 {
		return nil
	}
	if h.Count > len(entries) {
		return fmt.Errorf("ledger: has %d charges, had %d: charges were removed at the end: %w", len(entries), h.Count, ErrTampered)
	}
	for _, e := range entries {
		if e.Hash == h.Hash || e.Identity() == h.Hash {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("ledger: no charge has the hash %s of its earlier head", h.Hash), ErrTampered)
}
