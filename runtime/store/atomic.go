// Package store is all that a run leaves on disk: atomic files and locks, the folder of a
// run, and the cache of stage outputs. It knows addresses and bytes, not why they are kept.
package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is written beside its final name and takes that name only when it
// is complete and synced: a reader, or a run after a crash, sees all or nothing.
type File struct {
	*os.File
	final string
}

// Create opens a File that will be path, and makes the folders above it, of mode 0700 for a
// private file.
func Create(path string, mode os.FileMode) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), mode|mode&0o444>>2|0o100); err != nil {
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
	return &File{File: f, final: path}, nil
}

// Commit syncs the file, gives it its name and syncs its folder.
func (f *File) Commit() error {
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
func (f *File) Abort() {
	f.File.Close()
	os.Remove(f.Name())
}

// Write writes path through write, or leaves what was there.
func Write(path string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := Create(path, mode)
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

// WriteBytes is Write of what is at hand.
func WriteBytes(path string, mode os.FileMode, data []byte) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Remove removes a file, which may be gone.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Reason drops the operation and the path that package os puts before its reason.
func Reason(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

// SamePath looks through links, hard ones too. Of files that are not there only
// the names can be compared.
func SamePath(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(one, other)
	}
	return Resolved(a) == Resolved(b)
}

// Resolved is the absolute path without links, as far as it is there.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return filepath.Clean(path)
}

// ErrLocked means that another process holds a run.
var ErrLocked = errors.New("another process is working on it")

// ErrInternal is what a panic while rows are made or stored comes to: its words may
// quote them.
var ErrInternal = errors.New("internal error in weir, not in the spec; please report it")
