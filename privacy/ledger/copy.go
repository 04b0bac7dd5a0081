package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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
