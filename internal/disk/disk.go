// Package disk is the one place where runs and ledgers change files: whole or not at
// all, on disk before anyone relies on it, and under locks that end with their process.
// Its zero value is the disk of the machine; in tests a Watch lets any change fail.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Disk changes files. The zero value is the disk of the machine, and waits for locks
// without end or word.
type Disk struct {
	Watch Watch // asked before each change, in tests; nil lets all happen
	wait  Wait
	fades bool // nothing need outlive the process
}

// Fading returns a disk of files that need not outlive the process, which waits for no write to reach the machine. It
// is for folders that are removed again: a charge or a release must never be written by it.
func (d Disk) Fading() Disk {
	d.fades = true
	return d
}

// Op is a kind of change.
type Op string

// The changes that a Watch is asked about.
const (
	OpMkdir    Op = "mkdir"
	OpCreate   Op = "create" // of an empty file, or the opening of one to append to
	OpChmod    Op = "chmod"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpClose    Op = "close"
	OpRename   Op = "rename"
	OpSyncDir  Op = "sync folder"
	OpTruncate Op = "truncate"
	OpRemove   Op = "remove"
	OpLock     Op = "lock"
)

// Change is what is about to happen to a file.
type Change struct {
	Op   Op
	Path string
	To   string // of a rename
	Size int64  // bytes of a write, length after a truncation
}

// Watch is asked before each change, by several goroutines. Its error is the error of the
// change, which then does not take place; of a write the first part bytes do.
type Watch func(Change) (part int64, err error)

func (d Disk) ask(c Change) (int64, error) {
	if d.Watch == nil {
		return 0, nil
	}
	return d.Watch(c)
}

func (d Disk) change(c Change, do func() error) error {
	if _, err := d.ask(c); err != nil || d.fades && (c.Op == OpSync || c.Op == OpSyncDir) {
		return err
	}
	return do()
}

// Mkdir makes a folder, never one that is there.
func (d Disk) Mkdir(path string, mode os.FileMode) error {
	return d.change(Change{Op: OpMkdir, Path: path}, func() error { return os.Mkdir(path, mode) })
}

// MkdirAll makes a folder and those above it, where they are missing.
func (d Disk) MkdirAll(path string, mode os.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	return d.change(Change{Op: OpMkdir, Path: path}, func() error { return os.MkdirAll(path, mode) })
}

// Chmod changes who may read a file.
func (d Disk) Chmod(path string, mode os.FileMode) error {
	return d.change(Change{Op: OpChmod, Path: path}, func() error { return os.Chmod(path, mode) })
}

// Rename gives a file or folder another name, on disk when it returns.
func (d Disk) Rename(from, newName string) error {
	err := d.change(Change{Op: OpRename, Path: from, To: newName}, func() error { return os.Rename(from, newName) })
	if err != nil {
		return err
	}
	return d.SyncDir(newName)
}

// Truncate cuts a file.
func (d Disk) Truncate(path string, size int64) error {
	return d.change(Change{Op: OpTruncate, Path: path, Size: size}, func() error { return os.Truncate(path, size) })
}

// Remove removes a file, which may be gone.
func (d Disk) Remove(path string) error {
	err := d.change(Change{Op: OpRemove, Path: path}, func() error { return os.Remove(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveAll removes a folder and all in it, which may be gone.
func (d Disk) RemoveAll(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.change(Change{Op: OpRemove, Path: path}, func() error { return os.RemoveAll(path) })
}

// Sync puts a file and its name on disk.
func (d Disk) Sync(path string) error {
	err := d.change(Change{Op: OpSync, Path: path}, func() error {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
	if err != nil {
		return err
	}
	return d.SyncDir(path)
}

// Writable reports whether files can be made in a folder. It looks at the permission bits too, because root may write
// where they forbid it to everybody.
func (d Disk) Writable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o222 != 0 && mayWrite(dir)
}

// Open opens a file for reading. Anything but a regular file is refused: a read of a
// pipe or a device may block for ever, and no signal ends it, or never come to an end.
// The open itself does not wait for the other end of a pipe.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	return regular(f, path, err)
}

// OpenIn opens, as Open does, a name inside a folder.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	return regular(f, name, err)
}

// regular passes on what was opened if it is a regular file.
func regular(f *os.File, path string, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, nil
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: IrregularError{info.Mode()}}
}

// IrregularError says what a path leads to that is not a regular file.
type IrregularError struct{ Mode fs.FileMode }

func (e IrregularError) Error() string {
	return fmt.Sprintf("is %s, must be a regular file", what(e.Mode))
}

func what(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// ReadFile reads a whole file of at most `most` bytes; 0 sets no bound.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if most == 0 {
		return io.ReadAll(f)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is longer than %d bytes, which is the most that is "+
			"read of such a file", most)}
	}
	return data, err
}
