package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"weir/pipeline"
	"weir/runtime/table"
)

// Held opens each file of a run once, as pipeline.Files. Every reader sees that one file, whatever its name points to
// later, and the run asks at the end whether the content is still what was digested at the beginning.
type Held struct {
	*Folder
	mu    sync.Mutex
	files map[string]*heldFile
	parts map[string][]string // files of each pattern, as they were first listed
}

type heldFile struct {
	file    fs.File
	at      io.ReaderAt
	size    int64
	changed time.Time
	digest  string // of the uncompressed content; "" until asked for
}

// Hold returns the held files of a folder, none so far. Closing them closes the folder.
func Hold(folder *Folder) *Held {
	return &Held{Folder: folder, files: map[string]*heldFile{}, parts: map[string][]string{}}
}

// List returns Folder.List, done once for each pattern.
func (h *Held) List(name string) ([]string, error) {
	if list := h.listed(name); list != nil {
		return list, nil
	}
	list, err := h.Folder.List(name)
	if err != nil || !pipeline.IsPattern(name) {
		return list, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts[name] = list
	return list, nil
}

// listed returns the files of a pattern that was listed, else nil.
func (h *Held) listed(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.parts[name]
}

// Lists lists all files that names stand for.
func (h *Held) Lists(names []string) (all []string, err error) {
	for _, name := range names {
		list, err := h.List(name)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// Open returns a view of the file from its beginning. A file that is not a regular one, such as a pipe, can be read
// once only and is refused.
func (h *Held) Open(name string) (fs.File, error) {
	f, err := h.get(name)
	if err != nil {
		return nil, err
	}
	return &view{SectionReader: io.NewSectionReader(whole{f.at, f.size}, 0, f.size), of: f.file}, nil
}

func (h *Held) get(name string) (*heldFile, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f, ok := h.files[name]; ok {
		return f, nil
	}
	file, err := h.Folder.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	place, readable := file.(io.ReaderAt)
	if err == nil && (!info.Mode().IsRegular() || !readable) {
		err = errors.New("must be a regular file, which can be read more than once")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	h.files[name] = &heldFile{file: file, at: place, size: info.Size(), changed: info.ModTime()}
	return h.files[name], nil
}

// Digest returns the digest of the uncompressed content, which is taken once.
func (h *Held) Digest(ctx context.Context, name string) (string, error) {
	f, err := h.get(name)
	if err != nil {
		return "", err
	}
	if known := h.known(f); known != "" {
		return known, nil
	}
	digest, err := table.Digest(ctx, h, name)
	if err != nil {
		return "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	f.digest = digest
	return digest, nil
}

func (h *Held) known(f *heldFile) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return f.digest
}

// Untouched looks at sizes, times of change and what patterns match, which costs nothing.
func (h *Held) Untouched() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for pattern, list := range h.parts {
		if now, err := h.Folder.List(pattern); err != nil || !slices.Equal(now, list) {
			return h.hasChanged(pattern)
		}
	}
	for name, f := range h.files {
		info, err := f.file.Stat()
		if err != nil || info.Size() != f.size || !info.ModTime().Equal(f.changed) {
			return h.hasChanged(name)
		}
	}
	return nil
}

func (h *Held) hasChanged(name string) error {
	return fmt.Errorf("%s: %w", h.Path(name), pipeline.ErrChanged)
}

// Unchanged reads a digested file again: what was read is what was digested. A file that can no longer be read, as on
// a network, counts as changed: nobody can say that it is not.
func (h *Held) Unchanged(ctx context.Context, name string) error {
	f, err := h.get(name)
	if err != nil {
		return err
	}
	current, err := table.Digest(ctx, h, name)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w; %w", err, h.hasChanged(name))
	case current != h.known(f):
		return h.hasChanged(name)
	}
	return nil
}

// AllUnchanged checks, as Unchanged does, every digested file, but for those that are named.
func (h *Held) AllUnchanged(ctx context.Context, but ...string) error {
	if err := h.Untouched(); err != nil {
		return err
	}
	for _, name := range h.digested() {
		if slices.Contains(but, name) {
			continue
		}
		if err := h.Unchanged(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// digested lists the files whose digest was taken.
func (h *Held) digested() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, f := range h.files {
		if f.digest != "" {
			names = append(names, name)
		}
	}
	return names
}

// Named refuses a file whose name has come to mean another one since it was opened: its ledger and its owner file are
// found by name.
func (h *Held) Named(name string) error {
	f, err := h.get(name)
	if err != nil {
		return err
	}
	current, err := h.Folder.Open(name)
	if err != nil {
		return h.hasChanged(name)
	}
	defer current.Close()
	before, err1 := f.file.Stat()
	after, err2 := current.Stat()
	if err1 != nil || err2 != nil || !os.SameFile(before, after) {
		return h.hasChanged(name)
	}
	return nil
}

// Close closes every file and the folder.
func (h *Held) Close() error {
	errs := []error{h.Folder.Close()}
	for _, f := range h.files {
		errs = append(errs, f.file.Close())
	}
	return errors.Join(errs...)
}

// Only returns the held files of these names, or that they match as patterns; any other is refused, as if it were not
// there.
func (h *Held) Only(names ...string) pipeline.Files { return only{h, names} }

// only is the part of the held files that a source may open: those that it declared, by which it is confined, watched
// and told from public files.
type only struct {
	held  *Held
	names []string
}

func (o only) allowed(name string) error {
	part := func(declared string) bool { return slices.Contains(o.held.listed(declared), name) }
	if !slices.Contains(o.names, name) && !slices.ContainsFunc(o.names, part) {
		return fmt.Errorf("%s: is opened by a source that does not declare it: %w", name, fs.ErrPermission)
	}
	return nil
}

// List implements pipeline.Files.
func (o only) List(name string) ([]string, error) {
	if err := o.allowed(name); err != nil {
		return nil, err
	}
	return o.held.List(name)
}

// Open implements pipeline.Files.
func (o only) Open(name string) (fs.File, error) {
	if err := o.allowed(name); err != nil {
		return nil, err
	}
	return o.held.Open(name)
}

// Digest implements pipeline.Files.
func (o only) Digest(ctx context.Context, name string) (string, error) {
	if err := o.allowed(name); err != nil {
		return "", err
	}
	return o.held.Digest(ctx, name)
}

// Unchanged implements pipeline.Files.
func (o only) Unchanged(ctx context.Context, name string) error {
	if err := o.allowed(name); err != nil {
		return err
	}
	return o.held.Unchanged(ctx, name)
}

// whole is a file of a known size. One that ends before has shrunk, which a reader would take for the end of the
// table.
type whole struct {
	io.ReaderAt
	size int64
}

func (w whole) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(p, off)
	if errors.Is(err, io.EOF) && n < len(p) && off+int64(n) < w.size {
		err = pipeline.ErrChanged
	}
	return n, err
}

// view is one reader of a held file; closing it leaves the file open.
type view struct {
	*io.SectionReader
	of fs.File
}

// File returns the opened file, for a program that has to read it itself; nil where it is none of the system.
func (v *view) File() *os.File {
	f, _ := v.of.(*os.File)
	return f
}

func (v *view) Stat() (fs.FileInfo, error) { return v.of.Stat() }
func (v *view) Close() error               { return nil }
