//go:build !unix

package store

import (
	"io"
	"os"
)

type exclusive struct {
	*os.File
	path string
}

func (e exclusive) Close() error {
	e.File.Close()
	return os.Remove(e.path)
}

// lockFile creates path exclusively; a killed process leaves it behind, and the
// error then tells which file to remove.
func lockFile(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if os.IsExist(err) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return exclusive{f, path}, nil
}
