package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"weir/internal/disk"
)

// Copy is the file in which the owner of a dataset keeps the lines of its ledger, so that a
// ledger which was lost can be written again. A line is in the ledger first, then in the
// copy, and only then is noise drawn: the copy holds all that was released and nothing that
// the ledger never held. It grows by one line a charge and is written as a whole only where
// the ledger became another chain (a merge) or a crash cut its last line short. Across
// processes the caller holds a lock over Follow.
type Copy struct {
	mu      sync.Mutex
	disk    disk.Disk
	path    string
	dataset string
	raw     []byte // the whole lines of the file, as last read
	entries []Entry
}

// NewCopy returns the copy at path, which need not exist, of the ledger of a dataset.
func NewCopy(d disk.Disk, path, dataset string) *Copy {
	return &Copy{disk: d, path: path, dataset: dataset}
}

// ErrLacking marks a ledger that lacks charges of its copy.
var ErrLacking = fmt.Errorf("charges that the owner's copy holds were removed: %w", ErrTampered)

// ErrOtherDataset marks a copy that belongs to another dataset.
var ErrOtherDataset = errors.New("is the copy of another dataset's ledger")

// Entries reads the copy and changes nothing on disk. A last line that a crash cut short is
// left out: no noise was drawn for it.
func (c *Copy) Entries() ([]Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.read()
	return append([]Entry(nil), c.entries...), err
}

// read brings c up to date with its file, and reports whether that ends in a whole line.
func (c *Copy) read() (whole bool, err error) {
	data, err := disk.ReadFile(c.path, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	known, before := c.raw, c.entries
	if !bytes.HasPrefix(data, known) {
		known, before = nil, nil
	}
	entries, rest, err := parse(data[len(known):], before, c.dataset)
	if err == nil && len(entries) > 0 && entries[0].Dataset != c.dataset {
		err = fmt.Errorf("%w, %s, must be of %s", ErrOtherDataset, entries[0].Dataset, c.dataset)
	}
	if err != nil {
		c.raw, c.entries = nil, nil
		return false, fmt.Errorf("%s: %w", c.path, err)
	}
	c.raw, c.entries = data[:len(data)-len(rest)], entries
	return bytes.Equal(c.raw, data) && bytes.HasSuffix(data, []byte("\n")), nil
}

// fewLines are appended one by one: of the lines of one write, a power cut may leave zeros
// for several, which nobody could tell from charges.
const fewLines = 16

// Follow brings the copy up to date with the ledger, synced, and refuses a ledger that lacks a
// charge of the copy. A ledger read before the copy went on is behind it, and changes nothing.
func (c *Copy) Follow(ledger []Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(ledger) == 0 {
		return nil
	}
	whole, err := c.read()
	if err != nil {
		return err
	}
	missing := len(ledger) - len(c.entries)
	switch {
	case whole && extends(c.entries, ledger):
		return nil
	case whole && extends(ledger, c.entries) && missing <= fewLines:
		return c.append(ledger[len(c.entries):])
	}
	if lost := Lacking(ledger, c.entries); len(lost) > 0 {
		return fmt.Errorf("ledger: has %d charges: %w: %d of those in %s", len(ledger), ErrLacking, len(lost), c.path)
	}
	return c.replace(ledger)
}

func (c *Copy) append(missing []Entry) error {
	for _, e := range missing {
		line, err := e.line()
		if err != nil {
			return err
		}
		if err := c.disk.Append(c.path, 0o600, line); err != nil {
			return err
		}
		c.raw, c.entries = append(c.raw, line...), append(c.entries, e)
	}
	return nil
}

func (c *Copy) replace(ledger []Entry) error {
	text, err := textOf(ledger)
	if err != nil {
		return err
	}
	if err := c.disk.WriteBytes(c.path, 0o600, text); err != nil {
		return err
	}
	c.raw, c.entries = text, append([]Entry(nil), ledger...)
	return nil
}

// extends reports whether a chain begins with all lines of another: each line names the hash
// of the one before, so one hash tells.
func extends(long, short []Entry) bool {
	n := len(short)
	return n == 0 || n <= len(long) && long[n-1].Hash == short[n-1].Hash
}

// Lacking lists the charges of other that a chain does not hold, wherever a merge moved them.
func Lacking(chain, other []Entry) (missing []Entry) {
	if extends(chain, other) {
		return nil
	}
	has := map[string]bool{}
	for _, e := range chain {
		has[e.Identity()] = true
	}
	for _, e := range other {
		if !has[e.Identity()] {
			missing = append(missing, e)
		}
	}
	return missing
}

func textOf(chain []Entry) (text []byte, err error) {
	for _, e := range chain {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		text = append(text, line...)
	}
	return text, nil
}

// ErrBranch marks a ledger that holds charges which its copy lacks.
var ErrBranch = errors.New("holds charges that the copy lacks: it is a branch")

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
	byName := path
	if path, err = linked(path); err != nil {
		return done, err
	}
	unlock, err := d.Lock(byName) // as runs do, whose ledger goes by this name
	if err != nil {
		return done, fmt.Errorf("%s: %w", byName, err)
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

// salvage compares line by line a ledger that is not a chain, for the fault that Parse found.
func salvage(data []byte, lines []Entry, fault error) (done Replaced, err error) {
	identities, ids := map[string]bool{}, map[string]bool{}
	for _, e := range lines {
		identities[e.Identity()], ids[e.ID] = true, true
	}
	retained, nameless := map[string]bool{}, 0
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
		retained[e.ID] = true
	}
	delete(retained, "")
	if len(retained)+nameless > len(lines) {
		return done, fmt.Errorf("%w; with it the ledger has %d lines, and the copy %d charges", fault, len(retained)+nameless,
			len(lines))
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
