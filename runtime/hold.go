package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"weir/runtime/table"
)

// errChanged says which file is no longer what the run read.
var errChanged = errors.New("has changed while the run read it; nothing was released, run it again")

// held opens each file of a run once. Every reader sees that one file, whatever
// its name points to later, and unchanged tells at the end whether its content
// is still what was digested at the beginning.
type held struct {
	folder *Folder
	mu     sync.Mutex
	files  map[string]*heldFile
}

type heldFile struct {
	file    fs.File
	at      io.ReaderAt
	size    int64
	changed time.Time
	digest  string // of the uncompressed content; "" until asked for
}

func hold(folder *Folder) *held { return &held{folder: folder, files: map[string]*heldFile{}} }

// Open gives a view of the file from its beginning. A file that is no regular
// one, such as a pipe, can be read once only and is refused.
func (h *held) Open(name string) (fs.File, error) {
	f, err := h.get(name)
	if err != nil {
		return nil, err
	}
	return &view{SectionReader: io.NewSectionReader(whole{f.at, f.size}, 0, f.size), of: f.file}, nil
}

func (h *held) get(name string) (*heldFile, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f, ok := h.files[name]; ok {
		return f, nil
	}
	file, err := h.folder.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	at, readable := file.(io.ReaderAt)
	if err == nil && (!info.Mode().IsRegular() || !readable) {
		err = errors.New("must be a regular file, which can be read more than once")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	h.files[name] = &heldFile{file: file, at: at, size: info.Size(), changed: info.ModTime()}
	return h.files[name], nil
}

// digest is that of the uncompressed content, taken once.
func (h *held) digest(ctx context.Context, name string) (string, error) {
	f, err := h.get(name)
	if err != nil {
		return "", err
	}
	h.mu.Lock()
	known := f.digest
	h.mu.Unlock()
	if known != "" {
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

// untouched looks at sizes and times of change, which costs nothing.
func (h *held) untouched() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, f := range h.files {
		info, err := f.file.Stat()
		if err != nil || info.Size() != f.size || !info.ModTime().Equal(f.changed) {
			return fmt.Errorf("%s: %w", h.folder.Path(name), errChanged)
		}
	}
	return nil
}

// unchanged reads every digested file again: what was read is what was digested. A
// file that can no longer be read, as on a network, counts as changed: nobody can
// say that it is not.
func (h *held) unchanged(ctx context.Context) error {
	if err := h.untouched(); err != nil {
		return err
	}
	for name, before := range h.digests() {
		now, err := table.Digest(ctx, h, name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("%w; %s: %w", err, h.folder.Path(name), errChanged)
		case now != before:
			return fmt.Errorf("%s: %w", h.folder.Path(name), errChanged)
		}
	}
	return nil
}

// digests are those taken so far, by name.
func (h *held) digests() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := map[string]string{}
	for name, f := range h.files {
		if f.digest != "" {
			taken[name] = f.digest
		}
	}
	return taken
}

// named refuses a file whose name has come to mean another one since it was opened:
// its ledger and its owner file are found by name.
func (h *held) named(name string) error {
	f, err := h.get(name)
	if err != nil {
		return err
	}
	now, err := h.folder.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", h.folder.Path(name), errChanged)
	}
	defer now.Close()
	was, err1 := f.file.Stat()
	is, err2 := now.Stat()
	if err1 != nil || err2 != nil || !os.SameFile(was, is) {
		return fmt.Errorf("%s: %w", h.folder.Path(name), errChanged)
	}
	return nil
}

func (h *held) Close() error {
	errs := []error{h.folder.Close()}
	for _, f := range h.files {
		errs = append(errs, f.file.Close())
	}
	return errors.Join(errs...)
}

// whole is a file of a known size. One that ends before has shrunk, which a reader
// would take for the end of the table.
type whole struct {
	io.ReaderAt
	size int64
}

func (w whole) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(p, off)
	if errors.Is(err, io.EOF) && n < len(p) && off+int64(n) < w.size {
		err = errChanged
	}
	return n, err
}

// view is one reader of a held file; closing it leaves the file open.
type view struct {
	*io.SectionReader
	of fs.File
}

func (v *view) Stat() (fs.FileInfo, error) { return v.of.Stat() }
func (v *view) Close() error               { return nil }
