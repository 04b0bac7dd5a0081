package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"weir/internal/disk"
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
		return fmt.Errorf("ledger: is of dataset %s, must be of %s; each dataset has a ledger of its own", entries[0].Dataset,
			l.dataset)
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
func (l *Ledger) chain(charges []Charge, key admission) ([]Entry, error) {
	used := make(map[string]int, len(l.entries))
	for i, e := range l.entries {
		used[e.ID] = i + 1
	}
	prev, current := l.head().Hash, l.clock().UTC().Round(0)
	var added []Entry
	for _, c := range charges {
		if line, ok := used[c.ID]; ok {
			return nil, fmt.Errorf("ledger: charge %q: %w, in line %d", c.ID, ErrCharged, line)
		}
		e := c.entry(l.dataset, current, key)
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
		return fmt.Errorf("ledger: has %d charges, had %d: charges were removed at the end: %w", len(entries), h.Count,
			ErrTampered)
	}
	for _, e := range entries {
		if e.Hash == h.Hash || e.Identity() == h.Hash {
			return nil
		}
	}
	return fmt.Errorf("ledger: no charge has the hash %s of its earlier head: %w", h.Hash, ErrTampered)
}

// Store is the file of a ledger, as small as a ledger needs. OpenFile gives the
// one on disk; tests use others, to fail at every call.
type Store interface {
	Lock() (unlock func() error, err error) // waits for other processes
	ReadAll() ([]byte, error)               // nothing where there is no file yet
	Append(data []byte) error
	Truncate(size int64) error
	Aside(data []byte) (path string, err error) // keeps data elsewhere, on disk when it returns
	Sync() error                                // returns when data, size and name are on disk
}

// View opens the ledger of a dataset at path, which need not exist, to look at it: nothing
// on disk is changed, a last line that was cut short is left out, and Append is refused.
func View(path, dataset string, clock func() time.Time) (*Ledger, error) {
	l, err := newLedger(view{file{path: path}}, dataset, clock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// view is a file that is read and never written.
type view struct{ file }

var errView = errors.New("the ledger is open for looking only")

func (v view) Lock() (func() error, error) { return func() error { return nil }, nil }

// Append does as if the last line had its newline, and refuses charges.
func (v view) Append(data []byte) error {
	if string(data) == "\n" {
		return nil
	}
	return errView
}

func (v view) Truncate(int64) error         { return nil }
func (v view) Sync() error                  { return nil }
func (v view) Aside([]byte) (string, error) { return "", nil }

var _ Store = view{file{disk: disk.Disk{}}}

// Open opens the ledger of a dataset at path, which need not exist yet unless the
// dataset is "", which takes the id that the file states. Nothing stays open or
// locked between calls.
func Open(d disk.Disk, path, dataset string, clock func() time.Time) (*Ledger, error) {
	l, err := newLedger(OpenFile(d, path), dataset, clock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// OpenFile returns the file at path as a Store. It is locked by a file beside
// it, path + ".lock", which is empty and may be deleted while nothing runs.
func OpenFile(d disk.Disk, path string) Store { return file{d, path} }

type file struct {
	disk disk.Disk
	path string
}

func (f file) Lock() (func() error, error) { return f.disk.Lock(f.path) }

func (f file) ReadAll() ([]byte, error) {
	data, err := disk.ReadFile(f.path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (f file) Append(data []byte) error { return f.disk.Append(f.path, 0o644, data) }

func (f file) Truncate(size int64) error {
	err := f.disk.Truncate(f.path, size)
	if size == 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f file) Sync() error { return f.disk.Sync(f.path) }

// MergeFiles merges the ledger at path with the others, in place: the file holds
// the old ledger or the new one, whatever happens. Without others it resolves a
// file with conflict markers or one merged by union.
func MergeFiles(d disk.Disk, path string, others ...string) (err error) {
	unlock, err := d.Lock(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	var branches [][]byte
	for _, p := range append([]string{path}, others...) {
		data, err := disk.ReadFile(p, 0)
		if err != nil {
			return fmt.Errorf("ledger: merge: %w", err)
		}
		branches = append(branches, data)
	}
	merged, err := merge(branches...)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	newName, err := linked(path)
	if err != nil {
		return err
	}
	return d.WriteBytes(newName, 0o644, merged)
}

// linked returns where a ledger lies that is named by a link, whose end may be gone. To replace the link by a
// file would leave two ledgers, since a charge is appended where the link leads.
func linked(path string) (string, error) {
	for range 40 { // as many as Linux follows
		newName, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link: there is nothing, or a file
		}
		if !filepath.IsAbs(newName) {
			newName = filepath.Join(filepath.Dir(path), newName)
		}
		path = newName
	}
	return "", fmt.Errorf("%s: is a link that leads in a circle, must lead to the ledger", path)
}
