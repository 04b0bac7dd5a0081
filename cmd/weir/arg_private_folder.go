package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"weir/internal/disk"
)

// privateFolder makes a folder below TMPDIR for private rows that a command needs while it works, and returns what
// removes it. The folder is locked as long as the process lives: folders of the same prefix that a killed process has
// left are removed first. Until then a reader that went away, such as head, ends the command by an error and not at
// once.
func privateFolder(prefix string) (dir string, remove func() error, err error) {
	if err := sweepPrivate(prefix); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	unlock, err := disk.Disk{}.TryLock(filepath.Join(dir, privateLock))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	signal.Ignore(syscall.SIGPIPE)
	return dir, func() error {
		signal.Reset(syscall.SIGPIPE)
		return errors.Join(unlock(), os.RemoveAll(dir))
	}, nil
}

// privateLock is the name of the lock in a folder of privateFolder.
const privateLock = "weir.lock"

// sweepPrivate removes folders of a prefix below TMPDIR whose process is gone. One without a lock is somebody else's,
// or is just being made.
func sweepPrivate(prefix string) error {
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range folders {
		lock := filepath.Join(dir, privateLock)
		if info, failed := os.Lstat(lock); failed != nil || !info.Mode().IsRegular() {
			continue
		}
		unlock, failed := disk.Disk{}.TryLock(lock)
		if failed != nil {
			continue
		}
		if failed := errors.Join(unlock(), os.RemoveAll(dir)); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: holds private rows that a killed audit left, and must be removed: %w",
				dir, failed))
		}
	}
	return err
}
