// Package store is all that a run leaves on disk: atomic files and locks, the folder of a
// run, and the cache of stage outputs. It knows addresses and bytes, not why they are kept.
package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

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

// ErrInternal is what a panic while rows are made or stored comes to: its words may
// quote them.
var ErrInternal = errors.New("internal error in weir, not in the spec; please report it")
