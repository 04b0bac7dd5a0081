package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// This file is the one place below privacy/ that touches the operating system.

// Open opens the ledger of a dataset at path, which need not exist yet unless the
// dataset is "", which takes the id that the file states. Nothing stays open or
// locked between calls.
func Open(path, dataset string, clock func() time.Time) (*Ledger, error) {
	l, err := newLedger(OpenFile(path), dataset, clock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// OpenFile returns the file at path as a Store. It is locked by a file beside
// it, path + ".lock", which is empty and may be deleted while nothing runs.
func OpenFile(path string) Store { return file(path) }

type file string

func (f file) Lock() (func() error, error) { return lockFile(string(f) + ".lock") }

func (f file) ReadAll() ([]byte, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (f file) Append(data []byte) error {
	h, err := os.OpenFile(string(f), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = h.Write(data)
	return errors.Join(err, h.Sync(), h.Close())
}

func (f file) Truncate(size int64) error {
	err := os.Truncate(string(f), size)
	if size == 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f file) Sync() error {
	h, err := os.OpenFile(string(f), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(h.Sync(), h.Close(), syncDir(filepath.Dir(string(f))))
}

// MergeFiles merges the ledger at path with the others, in place: the file holds
// the old ledger or the new one, whatever happens. Without others it resolves a
// file with conflict markers or one merged by union.
func MergeFiles(path string, others ...string) (err error) {
	unlock, err := file(path).Lock()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	var branches [][]byte
	for _, p := range append([]string{path}, others...) {
		data, err := os.ReadFile(p)
		if err != nil {
			return fmt.Errorf("ledger: merge: %w", err)
		}
		branches = append(branches, data)
	}
	merged, err := merge(branches...)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replaceFile(path, merged)
}

func replaceFile(path string, data []byte) error {
	h, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = h.Write(data)
	err = errors.Join(err, h.Chmod(0o644), h.Sync(), h.Close())
	if err == nil {
		err = os.Rename(h.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(h.Name()))
	}
	return syncDir(filepath.Dir(path))
}
