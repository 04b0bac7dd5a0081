package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"weir/internal/disk"
	"weir/runtime/store"
)

// Folder opens files by names relative to a spec. A confined folder refuses
// names that leave it, through .. or symbolic links (os.Root).
type Folder struct {
	dir  string
	root *os.Root
}

// OpenFolder opens dir; "" is the current folder.
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

// Check reports whether a file can be opened, and is a regular one.
func (f *Folder) Check(name string) error {
	file, err := f.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, store.Reason(err))
	}
	return file.Close()
}

// Path is where name lies.
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
