package main

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"weir/internal/disk"
)

// errDisk is what the faulty disk says.
var errDisk = errors.New("no space left on device")

// faultyDisk is the disk of the machine until change number at, counted from 1, where it
// is faulty in one of the manners below. It keeps what a power cut would lose.
type faultyDisk struct {
	t      *testing.T
	manner string // "fails once", "fails on", "loses power" or "is slow"
	at     int

	mu      sync.Mutex
	n       int
	ops     []disk.Op         // of all changes
	hit     string            // the change that was faulty
	whole   map[string]int64  // bytes that are on disk, of files that were written to
	renames []disk.Change     // whose folder is not on disk yet
	before  map[string][]byte // what a renamed or new file replaced; nil: nothing
}

func newFaultyDisk(t *testing.T, manner string, at int) *faultyDisk {
	return &faultyDisk{t: t, manner: manner, at: at, whole: map[string]int64{}, before: map[string][]byte{}}
}

func (f *faultyDisk) disk() disk.Disk { return disk.Disk{Watch: f.watch} }

// watch lets half of a write happen before it fails.
func (f *faultyDisk) watch(c disk.Change) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n, f.ops = f.n+1, append(f.ops, c.Op)
	if f.n == f.at {
		f.hit = string(c.Op) + " " + filepath.Base(c.Path)
	}
	switch {
	case f.n == f.at && f.manner == "is slow":
		time.Sleep(20 * time.Millisecond)
	case f.n == f.at && f.manner != "is slow", f.n > f.at && (f.manner == "fails on" || f.manner == "loses power"):
		f.note(disk.Change{Op: disk.OpWrite, Path: c.Path})
		return c.Size / 2, errDisk
	}
	f.note(c)
	return 0, nil
}

// note keeps what is on disk: the bytes of a file when it is synced, its name when its
// folder is.
func (f *faultyDisk) note(c disk.Change) {
	switch c.Op {
	case disk.OpWrite:
		if _, known := f.whole[c.Path]; !known {
			f.whole[c.Path] = size(c.Path)
		}
	case disk.OpSync:
		f.whole[c.Path] = size(c.Path)
	case disk.OpRename:
		f.before[c.To], _ = os.ReadFile(c.To) // nil where nothing is there
		if whole, file := f.whole[c.Path]; file {
			f.whole[c.To] = whole
			delete(f.whole, c.Path)
		}
		f.renames = append(f.renames, c)
	case disk.OpSyncDir:
		var open []disk.Change
		for _, r := range f.renames {
			if filepath.Dir(r.To) != c.Path {
				open = append(open, r)
			}
		}
		f.renames = open
	}
}

func size(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return 0
}

// cut leaves what a machine finds that lost power: bytes that were not synced are zeros,
// or half of them gone, and names that were not synced are the old ones.
func (f *faultyDisk) cut() {
	for path, whole := range f.whole {
		if now := size(path); now > whole {
			f.must(os.Truncate(path, whole+(now-whole)/2))
			f.must(zero(path, whole, (now-whole)/4))
		}
	}
	for i := len(f.renames) - 1; i >= 0; i-- {
		r := f.renames[i]
		if info, err := os.Stat(r.To); err == nil {
			f.must(os.Rename(r.To, r.Path))
			if old := f.before[r.To]; old != nil && !info.IsDir() {
				f.must(os.WriteFile(r.To, old, info.Mode()))
			}
		}
	}
}

// zero writes n zeros, as a file system does that noted a size before the bytes came.
func zero(path string, start, n int64) error {
	h, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = h.WriteAt(make([]byte, n), start)
	return errors.Join(err, h.Close())
}

func (f *faultyDisk) must(err error) {
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Error(err)
	}
}
