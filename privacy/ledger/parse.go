package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"weir/privacy"
)

// ErrTampered marks a ledger that was altered after it was written.
var ErrTampered = errors.New("the ledger was altered after it was written")

// lineError names the line at which the chain breaks.
type lineError struct {
	Line   int // from 1
	Reason string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }
func (e *lineError) Unwrap() error { return ErrTampered }

// atLine names the line of err. A ledger of an earlier format was not tampered with.
func atLine(line int, err error) error {
	if errors.Is(err, ErrOldFormat) {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return &lineError{line, err.Error()}
}

// Parse returns the entries of a ledger after checking every line and the chain.
// A last line that a crash cut short is an error here; Open repairs it.
func Parse(data []byte) ([]Entry, error) {
	entries, rest, err := parse(data, nil, "")
	if err == nil && len(rest) > 0 {
		return entries, &lineError{len(entries) + 1, fmt.Sprintf("is cut short after %d bytes: a crash while it was written, which the next run mends, or the end of the file was removed", len(rest))}
	}
	return entries, err
}

// parse checks data as the continuation of the chain before, of the dataset where
// that is known. The rest is what a crash left of one line (remnant.go); a whole
// last line without a newline is taken.
func parse(data []byte, before []Entry, dataset string) (entries []Entry, rest []byte, err error) {
	entries = before[:len(before):len(before)]
	for len(data) > 0 {
		line, tail, ended := bytes.Cut(data, []byte("\n"))
		if !ended {
			line, tail = unfilled(line)
		}
		e, err := parseLine(line)
		if err == nil {
			err = follows(e, entries)
		} else if last := !ended || len(tail) == 0 && bytes.IndexByte(data, 0) >= 0; last && !errors.Is(err, ErrOldFormat) {
			if remnant(data, entries, dataset) {
				return entries, data, nil
			}
			err = errNoRemnant(data)
		}
		if err != nil {
			return entries, nil, atLine(len(entries)+1, err)
		}
		entries, data = append(entries, e), tail
	}
	return entries, nil, nil
}

// headHash is what the line after the entries names as its predecessor.
func headHash(entries []Entry, dataset string) string {
	if n := len(entries); n > 0 {
		return entries[n-1].Hash
	}
	return genesis(dataset)
}

// parseLine reads one line and checks it on its own: spelling, content, hash.
func parseLine(line []byte) (Entry, error) {
	line = bytes.TrimSuffix(line, []byte("\r")) // git on Windows
	if conflictMarker(line) {
		return Entry{}, errors.New("is a git conflict marker; weir ledger merge resolves it")
	}
	var e Entry
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return Entry{}, errors.New("is not a charge in the format of a ledger") // and quotes nothing: the file may be the table itself
	}
	if isDigest(e.Dataset) {
		return Entry{}, ErrOldFormat
	}
	if err := e.check(); err != nil {
		return Entry{}, err
	}
	if again, err := e.line(); err != nil || !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), line) {
		return Entry{}, errors.New("is not written as weir writes it: it was edited")
	}
	return e, nil
}

func (e Entry) check() error {
	if err := e.valid(); err != nil {
		return err
	}
	if sealed, err := e.seal(); err != nil || sealed.Hash != e.Hash {
		return errors.New("does not have the hash that it states: it was edited")
	}
	if e.Origin == nil {
		return nil
	}
	if first, err := e.original(); err != nil || first.Hash != e.Origin.Hash {
		return errors.New("does not have the origin that it states: it was edited")
	}
	return nil
}

// valid checks what a charge must say, whoever wrote it.
func (e Entry) valid() error {
	if e.ID == "" || e.Version == "" {
		return errors.New("has no id or no version of the dataset, must have both")
	}
	if err := errors.Join(validDataset(e.Dataset), e.Unit.valid(), e.Filter.valid(), e.validCap()); err != nil {
		return err
	}
	if _, err := privacy.ParseAdjacency(string(e.Adjacency)); err != nil {
		return err
	}
	if e.Event.Event == nil {
		if e.Unproven == "" {
			return errors.New("has no event and no reason why nothing is proven, must have one")
		}
		return nil
	}
	return privacy.Validate(e.Event.Event)
}

// follows checks that e is the next entry of the chain.
func follows(e Entry, chain []Entry) error {
	if len(chain) == 0 {
		if e.Prev != genesis(e.Dataset) {
			return errors.New("is not a first line: lines before it were removed or moved")
		}
		return nil
	}
	last := chain[len(chain)-1]
	if e.Dataset != last.Dataset {
		return fmt.Errorf("is of dataset %s, the lines before are of %s", e.Dataset, last.Dataset)
	}
	if e.Prev != last.Hash {
		return fmt.Errorf("does not follow line %d: that line was replaced, or a line was removed, inserted or moved between them", len(chain))
	}
	return nil
}

func conflictMarker(line []byte) bool {
	for _, mark := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return false
}
