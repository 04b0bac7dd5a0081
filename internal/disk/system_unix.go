//go:build unix

package disk

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// nonblock keeps the opening of a pipe from waiting for its other end.
const nonblock = unix.O_NONBLOCK

// hold marks a file as being written, until what it returns is closed; nil where somebody
// else has marked it, or it is gone. Where the file system has no such marks nobody is
// held off.
func hold(path string) io.Closer {
	f, err := Open(path)
	if err != nil {
		return nil
	}
	if errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		f.Close()
		return nil
	}
	return f
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // not every file system has it
	}
	return errors.Join(err, d.Close())
}

// mayWrite asks the system, so that a killed process leaves no file that only tried.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }
