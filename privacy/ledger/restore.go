package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"weir/internal/disk"
)

// Replaced says what stood in a ledger that Restore has written.
type Replaced struct {
	There   int    // charges, each once
	Altered []int  // lines that were no charge as it was written, from 1
	Kept    string // the file that holds the ledger as it was, where lines were altered
}

// Restore writes the lines of a copy to the ledger at path, which may be gone. All charges that are there stay: a
// ledger with one that the copy lacks is refused. Lines that were altered are replaced where the copy holds the
// charges that they were, by the ids that they state or by their number, and the file as it was is kept aside.
func Restore(d disk.Disk, path string, lines []Entry) (done Replaced, err error) {
	if err := d.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return done, err
	}
	named := path
	if path, err = linked(path); err != nil {
		return done, err
	}
	unlock, err := d.Lock(named) // as runs do, whose ledger goes by this name
	if err != nil {
		return done, fmt.Errorf("%s: %w", named, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	data, err := disk.ReadFile(path, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	if done, err = compared(data, lines); err != nil {
		return done, fmt.Errorf("%s: %w", path, err)
	}
	text, err := textOf(lines)
	if err != nil || bytes.Equal(text, data) {
		return done, err
	}
	if len(done.Altered) > 0 {
		if done.Kept, err = (file{d, path}).Aside(data); err != nil {
			return done, err
		}
	}
	return done, d.WriteBytes(path, 0o644, text)
}

// compared holds the text of a ledger against the lines of its copy.
func compared(data []byte, lines []Entry) (done Replaced, err error) {
	present, _, err := parse(data, nil, "")
	if err == nil && len(Lacking(lines, present)) > 0 {
		err = ErrBranch
	}
	done.There = len(present)
	if !errors.Is(err, ErrTampered) {
		return done, err
	}
	return salvage(data, lines, err)
}

// salvage compares line by line a ledger that is no chain, for the fault that Parse found.
func salvage(data []byte, lines []Entry, fault error) (done Replaced, err error) {
	identities, ids := map[string]bool{}, map[string]bool{}
	for _, e := range lines {
		identities[e.Identity()], ids[e.ID] = true, true
	}
	held, nameless := map[string]bool{}, 0
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 || conflictMarker(line) {
			continue
		}
		e, altered := parseLine(line)
		switch {
		case altered == nil && !identities[e.Identity()]:
			return done, ErrBranch
		case altered == nil:
			done.There++
		default:
			done.Altered = append(done.Altered, i+1)
			e.ID = statedID(line)
		}
		if e.ID == "" {
			nameless++
		} else if !ids[e.ID] {
			return done, fmt.Errorf("%w; line %d states a charge that the copy lacks", fault, i+1)
		}
		held[e.ID] = true
	}
	delete(held, "")
	if len(held)+nameless > len(lines) {
		return done, fmt.Errorf("%w; with it the ledger has %d lines, and the copy %d charges", fault, len(held)+nameless, len(lines))
	}
	if len(done.Altered) == 0 {
		done.Altered = []int{faultyLine(fault)} // whole lines that were moved, or whose neighbours were removed
	}
	return done, nil
}

func faultyLine(fault error) int {
	var at *lineError
	if errors.As(fault, &at) {
		return at.Line
	}
	return 1
}

// statedID reads the id of the charge that an altered line was, or "".
func statedID(line []byte) string {
	var e struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(line, &e) != nil {
		return ""
	}
	return e.ID
}
