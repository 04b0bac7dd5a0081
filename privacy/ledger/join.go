package ledger

import (
	"fmt"
	"slices"
)

// Join appends the charges of another dataset's ledger, which turned out to be of
// the same people, all or none. They were spent, so no cap is asked. Each keeps its
// event, unit, adjacency and time; its id says where it is from, so that a Join which
// was interrupted and is repeated adds what is missing. It returns how many it added.
func (l *Ledger) Join(from []Entry) (added int, err error) {
	err = l.locked(func() error {
		if err := l.read(); err != nil {
			return err
		}
		lines, err := l.joined(from)
		if err != nil || len(lines) == 0 {
			return err
		}
		added = len(lines)
		return l.write(lines)
	})
	return added, err
}

// joined is what the ledger lacks of the entries, as its next lines.
func (l *Ledger) joined(from []Entry) (lines []Entry, err error) {
	filter, _, err := FilterOf(l.entries)
	if err != nil {
		return nil, err
	}
	if _, _, err := FilterOf(from); err != nil {
		return nil, err
	}
	prev := l.head().Hash
	for _, e := range from {
		e.ID += " joined from " + e.Dataset
		if slices.ContainsFunc(l.entries, func(known Entry) bool { return known.ID == e.ID }) {
			continue
		}
		e.Dataset, e.Prev, e.Origin = l.dataset, prev, nil
		if filter != nil {
			e.Filter = nil // one ledger has one filter; this one admits what comes next by all charges
		}
		if e, err = e.seal(); err != nil {
			return nil, fmt.Errorf("ledger: join: %w", err)
		}
		lines, prev = append(lines, e), e.Hash
	}
	return lines, nil
}
