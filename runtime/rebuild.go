package runtime

import (
	"errors"
	"fmt"
	"os"

	"weir/runtime/store"
)

// errGone is a finished run whose release was taken away and cannot be made again: to
// draw new noise in its place would be a charge that nobody asked for.
var errGone = errors.New("its release is gone, and cannot be made again without its noise key and the same build of weir; " +
	"restore release/ from a backup, or draw new noise, as a new charge, with --fresh")

// errEdited is a finished run whose release is not what the run wrote. To draw new noise
// in its place would be a charge that nobody asked for.
var errEdited = errors.New("the finished run is not shown as it is not what the run left; nothing was charged. " +
	"Move release/ away, and it is made again without a charge, or draw new noise, as a new charge, with --fresh")

// gone reports whether all of a finished run's release was taken away.
func gone(f store.Found) bool {
	_, err := os.Lstat((store.RunDir{Path: f.Path}).Release())
	return errors.Is(err, os.ErrNotExist) && len(f.Record.Release) > 0
}

// rebuild tells the owner why, and takes up a finished run without its release, as if it had been interrupted
// before it published: what is not in the cache is computed again under its own key,
// and its charges stand in the ledger. Its record stays as it is until all is done, and
// nothing else can be charged: where an input has changed, other noise would be needed. disk.ErrLocked where another process does so.
func (r *run) rebuild(f store.Found, why string) error {
	dir, before := store.RunDir{Disk: r.opts.Disk, Path: f.Path}, *f.Record
	if err := dir.Lock(); err != nil {
		return err
	}
	if !r.resume(dir, f.Record) {
		return errors.Join(fmt.Errorf("%s: %w", f.Path, errGone), dir.Unlock())
	}
	r.before = &before
	r.opts.Log.Warn(why, "folder", f.Path)
	return nil
}
