//go:build !unix

package disk

import (
	"errors"
	"io"
	"os"
)

const nonblock = 0

// hold holds nobody off: on Windows a file that is open cannot be removed.
func hold(string) io.Closer { return io.NopCloser(nil) }

// syncDir does nothing: Windows has no handle of a folder to put on disk.
func syncDir(string) error { return nil }

func mayWrite(dir string) bool {
	f, err := os.CreateTemp(dir, ".weir-*")
	return err == nil && errors.Join(f.Close(), os.Remove(f.Name())) == nil
}
