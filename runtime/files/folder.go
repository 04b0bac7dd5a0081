// Package files opens the files that a spec names: inside its folder where that is confined, each once where a run
// reads it, and knows at the end whether one of them has changed.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/runtime/store"
)

// ErrConfined marks a path that leaves the spec's folder under Confine.
var ErrConfined = errors.New("must be a file inside the spec's folder (--confine)")

// Folder opens files by names relative to a spec. A confined folder refuses
// names that leave it, through .. or symbolic links (os.Root): the spec's domain,
// the dataset and every further file, and the ledger where the command line names none.
type Folder struct {
	dir  string
	root *os.Root
}

// OpenFolder returns the folder of relative names; "" is the current one.
func OpenFolder(dir string, confine bool) (*Folder, error) {
	if dir == "" {
		dir = "."
	}
	f := &Folder{dir: dir}
	if !confine {
		return f, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f.root = root
	return f, nil
}

// Open opens a regular file for reading.
func (f *Folder) Open(name string) (fs.File, error) {
	if f.root == nil {
		return opened(disk.Open(f.Path(name)))
	}
	if filepath.IsAbs(name) {
		return nil, fmt.Errorf("%s: is an absolute path, %w", name, ErrConfined)
	}
	file, err := disk.OpenIn(f.root, filepath.Clean(name))
	if _, ofOpening := err.(*fs.PathError); ofOpening && !errors.As(err, &disk.IrregularError{}) {
		return nil, fmt.Errorf("%w: %v", ErrConfined, store.Reason(err))
	}
	return opened(file, err)
}

// opened keeps a file that is nil out of an interface that is not.
func opened(file *os.File, err error) (fs.File, error) {
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Check refuses a file that cannot be opened, or is not a regular one.
func (f *Folder) Check(name string) error {
	file, err := f.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, store.Reason(err))
	}
	return file.Close()
}

// mostParts is how many files one table may have: a run holds them all open.
const mostParts = 1000

// List returns the files that a name stands for: itself, or what a pattern matches (pipeline.Matches), in byte order of
// the names.
func (f *Folder) List(name string) ([]string, error) {
	if !pipeline.IsPattern(name) {
		return []string{name}, nil
	}
	dir, base := filepath.Dir(name), filepath.Base(name)
	entries, err := f.entries(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: the folder %s cannot be listed: %w", name, f.Path(dir), store.Reason(err))
	}
	var list []string
	for _, e := range entries { // sorted by name
		if e.Name() == base {
			return nil, fmt.Errorf("%s: is the name of a file and, with its * or ?, a pattern for several; rename the file",
				name)
		}
		if pipeline.Matches(base, e.Name()) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	switch {
	case len(list) == 0:
		return nil, fmt.Errorf("%s: no file in the folder %s matches this pattern", name, f.Path(dir))
	case len(list) > mostParts:
		return nil, fmt.Errorf("%s: matches more than %d files, must be at most so many: join some", name, mostParts)
	}
	return list, f.refuseSameFile(list)
}

// entries lists a folder.
func (f *Folder) entries(dir string) ([]fs.DirEntry, error) {
	switch {
	case f.root == nil:
		return os.ReadDir(f.Path(dir))
	case !filepath.IsLocal(dir):
		return nil, ErrConfined
	}
	list, err := fs.ReadDir(f.root.FS(), filepath.ToSlash(filepath.Clean(dir)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // such as a link that leads out
		err = fmt.Errorf("%w: %v", ErrConfined, store.Reason(err))
	}
	return list, err
}

// refuseSameFile refuses two names of one file, such as a link to the latest part: its rows would count twice.
func (f *Folder) refuseSameFile(list []string) error {
	var infos []fs.FileInfo
	for i, name := range list {
		info, err := f.stat(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, store.Reason(err))
		}
		for j, other := range infos {
			if os.SameFile(info, other) {
				return fmt.Errorf("%s: is the same file as %s, by a link, and its rows would count twice; remove one of them, or "+
					"write the pattern otherwise", list[i], list[j])
			}
		}
		infos = append(infos, info)
	}
	return nil
}

func (f *Folder) stat(name string) (fs.FileInfo, error) {
	if f.root == nil {
		return os.Stat(f.Path(name))
	}
	return f.root.Stat(filepath.Clean(name))
}

// Inside refuses a place outside a confined folder, whether a file lies there yet or not.
func (f *Folder) Inside(path string) error {
	if f.root == nil {
		return nil
	}
	outside := fmt.Errorf("%s: %w", path, ErrConfined)
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(name) { // the folder may be named through a link
		name, err = filepath.Rel(store.Resolved(dir), path)
	}
	if err != nil || !filepath.IsLocal(name) {
		return outside
	}
	if _, err := f.root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outside // by a link
	}
	return nil
}

// Dir returns the folder as it was named.
func (f *Folder) Dir() string { return f.dir }

// Path returns where name lies.
func (f *Folder) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.dir, name)
}

// Close releases a confined folder.
func (f *Folder) Close() error {
	if f.root == nil {
		return nil
	}
	return f.root.Close()
}
