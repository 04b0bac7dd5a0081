package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"weir/internal/disk"
)

// LockRuns holds the finding and beginning of runs of one name against other processes. It
// is held for as long as that takes; a run that is at work holds a lock of its own.
func LockRuns(d disk.Disk, out, name string) (unlock func() error, err error) {
	base := filepath.Join(out, name)
	if err := MakeRuns(d, out); err != nil {
		return nil, err
	}
	if err := d.MkdirAll(base, 0o755); err != nil {
		return nil, fmt.Errorf("%s: the folder of runs must be writable (--out): %w", base, Reason(err))
	}
	return d.Lock(filepath.Join(base, "begin"))
}

// again is how often a run that another process holds is looked at.
const again = 50 * time.Millisecond

// Wait returns when no process holds the run any more, or it is gone.
func (d RunDir) Wait(ctx context.Context) error {
	for {
		err := d.Lock()
		switch {
		case err == nil:
			return d.Unlock()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case !errors.Is(err, disk.ErrLocked):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(again):
		}
	}
}
