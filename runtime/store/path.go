// Package store is all that a run leaves on disk: atomic files and locks, the folder of a
// run, and the cache of stage outputs. It knows addresses and bytes, not why they are kept.
package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"weir/internal/disk"
	"weir/privacy"
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

// Resolved returns the absolute path without links, as far as it is there.
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

// DigestFile returns the digest and the size of a file.
func DigestFile(path string) (string, int64, error) {
	f, err := disk.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return privacy.DigestReader(f)
}

// DigestJSON returns the digest of plain data; what cannot be written is an error, never
// part of a name.
func DigestJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return privacy.Digest(data), nil
}

// Compact returns v as compact JSON: run.json is indented, a plan in memory is not.
func Compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
