package runtime

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// atomicFile is written beside its final name and takes that name only when it
// is complete and synced: a reader, or a run after a crash, sees all or nothing.
type atomicFile struct {
	*os.File
	final string
}

// createAtomic creates the folders above path too (mode 0700 for private ones).
func createAtomic(path string, mode os.FileMode) (*atomicFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp*")
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return &atomicFile{File: f, final: path}, nil
}

// Commit syncs and renames.
func (f *atomicFile) Commit() error {
	if err := errors.Join(f.Sync(), f.File.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	if err := os.Rename(f.Name(), f.final); err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(f.final))
}

// Abort leaves no trace of an uncommitted file.
func (f *atomicFile) Abort() {
	f.File.Close()
	os.Remove(f.Name())
}

// writeAtomic writes path through write, or leaves what was there.
func writeAtomic(path string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := createAtomic(path, mode)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Abort()
		return err
	}
	return f.Commit()
}

// syncDir makes a rename durable; not every file system allows it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, os.ErrInvalid) {
		return err
	}
	return nil
}
