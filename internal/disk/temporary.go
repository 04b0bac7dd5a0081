package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

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

// Sweep removes what killed processes were writing under root, which is weir's own
// folder: of private files it holds private rows. What a living process writes stays.
func (d Disk) Sweep(root string) (removed int, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed by its run meanwhile
		}
		if err == nil && e.Type().IsRegular() && unfinished().MatchString(e.Name()) {
			removed += d.sweep(path)
		}
		return err
	})
	return removed, err
}

// SweepFolder removes from one folder, which holds files of others too, what was to
// become a file of ours.
func (d Disk) SweepFolder(dir string, ours func(name string) bool) (removed int, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range files {
		if of := unfinished().FindStringSubmatch(e.Name()); of != nil && ours(of[1]) && e.Type().IsRegular() {
			removed += d.sweep(filepath.Join(dir, e.Name()))
		}
	}
	return removed, err
}

// unfinished is how temporary names what is being written.
func unfinished() *regexp.Regexp { return regexp.MustCompile(`^\.(.+)\.tmp[0-9]+$`) }

// sweep is 1 if it removed a file that nobody writes.
func (d Disk) sweep(path string) int {
	held := hold(path)
	if held == nil {
		return 0
	}
	defer held.Close()
	if d.Remove(path) != nil {
		return 0
	}
	return 1
}
