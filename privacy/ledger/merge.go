package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// merge joins branches of one ledger after a version control merge: two or more
// files, or one that holds conflict markers or was merged by union. What the
// branches share stays as it is; the charges after the fork are put in order of
// time and chained anew, each with its first place in the chain as its origin.
// A charge that several branches hold stands once, none is lost, and the result
// is the same whichever branch comes first. A line that was edited, or that
// follows a line which no branch holds, is an error.
func merge(branches ...[]byte) ([]byte, error) {
	lines, err := collect(branches)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	chain, rest, err := trunk(lines)
	if err != nil {
		return nil, err
	}
	if chain, err = graft(chain, rest); err != nil {
		return nil, err
	}
	var out []byte
	for _, e := range chain {
		line, err := e.line()
		if err != nil {
			return nil, fmt.Errorf("ledger: merge: %w", err)
		}
		out = append(out, line...)
	}
	_, err = Parse(out)
	return out, err
}

// Together returns the charges of branches of one ledger as a merge chains them, each charge once. The result is the
// same whichever branch comes first.
func Together(branches ...[]Entry) ([]Entry, error) {
	var texts [][]byte
	for _, chain := range branches {
		text, err := textOf(chain)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	merged, err := merge(texts...)
	if err != nil {
		return nil, err
	}
	return Parse(merged)
}

// found is an entry and where it was read.
type found struct {
	Entry
	branch, line int
}

// collect reads every line of every branch once, each on its own.
func collect(branches [][]byte) ([]found, error) {
	seen := map[string]bool{}
	var out []found
	for b, data := range branches {
		for i, line := range bytes.Split(data, []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(line) == 0 || conflictMarker(line) {
				continue
			}
			e, err := parseLine(line)
			if err != nil {
				return nil, fmt.Errorf("ledger: merge: file %d: %w", b+1, atLine(i+1, err))
			}
			if len(out) > 0 && e.Dataset != out[0].Dataset {
				return nil, fmt.Errorf("ledger: merge: file %d: line %d: is of dataset %s, others are of %s", b+1, i+1, e.Dataset,
					out[0].Dataset)
			}
			if !seen[e.Hash] {
				seen[e.Hash] = true
				out = append(out, found{e, b + 1, i + 1})
			}
		}
	}
	return out, nil
}

// trunk returns the entries up to the first fork in order, and all that follow.
func trunk(lines []found) (chain []Entry, rest []found, err error) {
	next := map[string][]found{}
	for _, f := range lines {
		next[f.Prev] = append(next[f.Prev], f)
	}
	path := genesis(lines[0].Dataset)
	for len(next[path]) == 1 {
		chain = append(chain, next[path][0].Entry)
		path = next[path][0].Hash
	}
	reached := len(chain)
	for queue := next[path]; len(queue) > 0; queue = queue[1:] {
		rest = append(rest, queue[0])
		queue = append(queue, next[queue[0].Hash]...)
	}
	if reached+len(rest) < len(lines) {
		return nil, nil, orphan(lines)
	}
	return chain, rest, nil
}

// orphan names the first line whose predecessor is in no branch.
func orphan(lines []found) error {
	known := map[string]bool{genesis(lines[0].Dataset): true}
	for _, f := range lines {
		known[f.Hash] = true
	}
	for _, f := range lines {
		if !known[f.Prev] {
			return fmt.Errorf("ledger: merge: file %d: %w", f.branch,
				&lineError{f.line, "follows a line that none of the files holds: charges were removed"})
		}
	}
	return errors.Join(errors.New("ledger: merge: the lines do not form a chain"), ErrTampered)
}

// graft appends the entries of rest to the chain, each charge once.
func graft(chain []Entry, rest []found) ([]Entry, error) {
	slices.SortStableFunc(rest, func(a, b found) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Identity(), b.Identity()))
	})
	have := map[string]bool{}
	for _, e := range chain {
		have[e.Identity()] = true
	}
	for _, f := range rest {
		e := f.Entry
		if have[e.Identity()] {
			continue
		}
		have[e.Identity()] = true
		if e.Origin == nil {
			e.Origin = &Origin{Prev: e.Prev, Hash: e.Hash}
		}
		e.Prev = genesis(e.Dataset)
		if len(chain) > 0 {
			e.Prev = chain[len(chain)-1].Hash
		}
		e, err := e.seal()
		if err != nil {
			return nil, fmt.Errorf("ledger: merge: %w", err)
		}
		chain = append(chain, e)
	}
	return chain, nil
}

// Join appends the charges of another dataset's ledger, which turned out to be of
// the same people, all or none. They were spent, so no cap is asked. Each keeps its
// event, unit, adjacency and time; its id says where it is from, so that a Join which
// was interrupted and is repeated adds what is missing. It returns how many it added.
func (l *Ledger) Join(src []Entry) (added int, err error) {
	err = l.locked(func() error {
		if err := l.read(); err != nil {
			return err
		}
		lines, err := l.joined(src)
		if err != nil || len(lines) == 0 {
			return err
		}
		added = len(lines)
		return l.write(lines)
	})
	return added, err
}

// joined returns what the ledger lacks of the entries, as its next lines.
func (l *Ledger) joined(src []Entry) (lines []Entry, err error) {
	filter, _, err := FilterOf(l.entries)
	if err != nil {
		return nil, err
	}
	if _, _, err := FilterOf(src); err != nil {
		return nil, err
	}
	prev := l.head().Hash
	for _, e := range src {
		e.ID += " joined from " + e.Dataset
		if slices.ContainsFunc(l.entries, func(known Entry) bool { return known.ID == e.ID }) {
			continue
		}
		e.Dataset, e.Prev, e.Origin = l.dataset, prev, nil
		if filter != nil {
			e.Filter, e.Cap = nil, nil // one ledger has one filter; this one admits what comes next by all charges
		}
		if e, err = e.seal(); err != nil {
			return nil, fmt.Errorf("ledger: join: %w", err)
		}
		lines, prev = append(lines, e), e.Hash
	}
	return lines, nil
}
