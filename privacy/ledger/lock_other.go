//go:build !unix && !windows

package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lockFile creates path, which names its owner. Where the system has no locks a
// crash leaves it behind; whether its owner still runs cannot be told here, so
// the error says who it was and what to delete.
func lockFile(path string) (func() error, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		owner, _ := os.ReadFile(path)
		return nil, fmt.Errorf("process %s holds %s; if it no longer runs, delete that file", owner, path)
	}
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprint(f, os.Getpid())
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return func() error { return os.Remove(path) }, nil
}

func syncDir(string) error { return nil }
