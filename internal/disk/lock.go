package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked means that somebody else holds a lock.
var ErrLocked = errors.New("another process is working on it")

// Wait says how long a lock is waited for and who hears of it. It is part of the disk of
// one run or command, since locks are taken where nothing else of a run is known.
type Wait struct {
	Context context.Context   // ends the wait; nil never does
	Quiet   time.Duration     // for which nobody is told
	Tell    func(path string) // hears of a lock that is not free by then; may be nil
}

// Waiting returns the disk whose locks are waited for in this way.
func (d Disk) Waiting(w Wait) Disk {
	d.wait = w
	return d
}

// again is how often a held lock is tried. Locks are held for milliseconds, while a
// ledger is read and written.
const again = 20 * time.Millisecond

// Lock waits for the lock of a file, which is the file path.lock beside it: empty, its owner's
// alone, and free to be deleted while nothing runs. The system ends a lock with its
// process, so that none goes stale.
func (d Disk) Lock(path string) (unlock func() error, err error) {
	path += ".lock"
	unlock, err = d.TryLock(path)
	if !errors.Is(err, ErrLocked) {
		return unlock, err
	}
	ctx := d.wait.Context
	if ctx == nil {
		ctx = context.Background()
	}
	l := newLock(path)
	soon, cancel := context.WithTimeout(ctx, d.wait.Quiet)
	defer cancel()
	if held, _ := l.TryLockContext(soon, again); held {
		return l.Close, nil
	}
	if d.wait.Tell != nil && ctx.Err() == nil {
		d.wait.Tell(path)
	}
	if _, err := l.TryLockContext(ctx, again); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), l.Close())
	}
	return l.Close, nil
}

// TryLock takes the lock that is the file path, or says ErrLocked at once.
func (d Disk) TryLock(path string) (unlock func() error, err error) {
	if _, err := d.ask(Change{Op: OpLock, Path: path}); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file; weir keeps an empty lock there: remove what is there", path)
	}
	l := newLock(path)
	held, err := l.TryLock()
	if err == nil && !held {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l.Close, nil
}

func newLock(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o600)) }
