package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// File is written beside its final name and takes that name only when it is complete
// and on disk: a reader, or a run after a crash, sees all or nothing.
type File struct {
	*handle
	final string
}

// Create opens a File that will be path, and makes the folders above it, of mode 0700 for a
// private file.
func (d Disk) Create(path string, mode os.FileMode) (*File, error) {
	if err := d.MkdirAll(filepath.Dir(path), mode|mode&0o444>>2|0o100); err != nil {
		return nil, err
	}
	h, err := d.temporary(path)
	if err != nil {
		return nil, err
	}
	f := &File{h, path}
	if err := d.change(Change{Op: OpChmod, Path: h.Name()}, func() error { return h.file.Chmod(mode) }); err != nil {
		f.Abort()
		return nil, err
	}
	return f, nil
}

// Commit puts the file on disk, gives it its name and puts that on disk. After a write
// that failed there is nothing to commit: what stood under the name stays.
func (f *File) Commit() error {
	if f.broken != nil {
		f.Abort()
		return fmt.Errorf("%s: was not written whole: %w", f.final, f.broken)
	}
	defer f.held.Close()
	err := errors.Join(f.sync(), f.close())
	if err == nil {
		err = f.disk.change(Change{Op: OpRename, Path: f.Name(), To: f.final},
			func() error { return os.Rename(f.Name(), f.final) })
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return f.disk.SyncDir(f.final)
}

// Abort leaves no trace of an uncommitted file.
func (f *File) Abort() {
	f.file.Close()
	os.Remove(f.Name())
	f.held.Close()
}

// Write writes path through write, or leaves what was there.
func (d Disk) Write(path string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := d.Create(path, mode)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Abort()
		return err
	}
	return f.Commit()
}

// WriteBytes writes, as Write does, what is at hand.
func (d Disk) WriteBytes(path string, mode os.FileMode, data []byte) error {
	return d.Write(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// New writes a file that must not be there yet; fs.ErrExist where it is.
func (d Disk) New(path string, mode os.FileMode, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return d.open(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode, data)
}

// Append adds to the end of a file, which may not be there yet, and returns when it is
// on disk. After an error some of it may be in the file.
func (d Disk) Append(path string, mode os.FileMode, data []byte) error {
	return d.open(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, mode, data)
}

func (d Disk) open(path string, flag int, mode os.FileMode, data []byte) error {
	if _, err := d.ask(Change{Op: OpCreate, Path: path}); err != nil {
		return err
	}
	f, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return err
	}
	h := &handle{disk: d, file: f}
	if _, err = h.Write(data); err == nil {
		err = h.sync()
	}
	if err = errors.Join(err, h.close()); err != nil {
		return err
	}
	return d.SyncDir(path)
}

// handle is an open file of which each change is asked for.
type handle struct {
	disk   Disk
	file   *os.File
	held   io.Closer // keeps a Sweep off
	broken error     // the first write that failed
}

// Name returns where the bytes lie until the file is committed.
func (h *handle) Name() string { return h.file.Name() }

// Write writes all of p, or no file of this name comes to be.
func (h *handle) Write(p []byte) (n int, err error) {
	part, err := h.disk.ask(Change{Op: OpWrite, Path: h.Name(), Size: int64(len(p))})
	if err == nil {
		n, err = h.file.Write(p)
	} else {
		n, _ = h.file.Write(p[:min(int(part), len(p))])
	}
	if err != nil && h.broken == nil {
		h.broken = err
	}
	return n, err
}

func (h *handle) sync() error {
	return h.disk.change(Change{Op: OpSync, Path: h.Name()}, h.file.Sync)
}

func (h *handle) close() error {
	_, err := h.disk.ask(Change{Op: OpClose, Path: h.Name()})
	return errors.Join(err, h.file.Close())
}

// SyncDir puts the names in the folder of path on disk; not every file system can.
func (d Disk) SyncDir(path string) error {
	dir := filepath.Dir(path)
	return d.change(Change{Op: OpSyncDir, Path: dir}, func() error { return syncDir(dir) })
}

// temporary makes the file in which path is written. It is marked as being written
// until it has its name, so that Sweep leaves it alone.
func (d Disk) temporary(path string) (*handle, error) {
	if _, err := d.ask(Change{Op: OpCreate, Path: path}); err != nil {
		return nil, err
	}
	for {
		f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp*")
		if err != nil {
			return nil, err
		}
		if held := hold(f.Name()); held != nil && there(f) {
			return &handle{disk: d, file: f, held: held}, nil
		}
		f.Close() // a Sweep saw it before it was marked
		os.Remove(f.Name())
	}
}

// there reports that a file is still what its name says.
func there(f *os.File) bool {
	held, err1 := f.Stat()
	named, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(held, named)
}

// RemoveLeftovers removes what killed processes were writing under root, which is weir's own
// folder: of private files it holds private rows. What a living process writes stays.
func (d Disk) RemoveLeftovers(root string) (removed int, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed by its run meanwhile
		}
		if err == nil && e.Type().IsRegular() && unfinished().MatchString(e.Name()) {
			removed += d.removeLeftovers(path)
		}
		return err
	})
	return removed, err
}

// RemoveLeftoversIn removes from one folder, which holds files of others too, what was to
// become a file of ours.
func (d Disk) RemoveLeftoversIn(dir string, ours func(name string) bool) (removed int, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range files {
		if of := unfinished().FindStringSubmatch(e.Name()); of != nil && ours(of[1]) && e.Type().IsRegular() {
			removed += d.removeLeftovers(filepath.Join(dir, e.Name()))
		}
	}
	return removed, err
}

// unfinished returns how temporary names what is being written.
func unfinished() *regexp.Regexp { return regexp.MustCompile(`^\.(.+)\.tmp[0-9]+$`) }

// removeLeftovers returns 1 if it removed a file that nobody writes.
func (d Disk) removeLeftovers(path string) int {
	retained := hold(path)
	if retained == nil {
		return 0
	}
	defer retained.Close()
	if d.Remove(path) != nil {
		return 0
	}
	return 1
}
