package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"weir/internal/disk"
)

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
	to, err := linked(path)
	if err != nil {
		return err
	}
	return d.WriteBytes(to, 0o644, merged)
}

// linked returns where a ledger lies that is named by a link, whose end may be gone. To replace the link by a
// file would leave two ledgers, since a charge is appended where the link leads.
func linked(path string) (string, error) {
	for range 40 { // as many as Linux follows
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link: there is nothing, or a file
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: is a link that leads in a circle, must lead to the ledger", path)
}
