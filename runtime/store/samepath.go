package store

import (
	"os"
	"path/filepath"
)

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
