package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"weir/internal/disk"
	"weir/runtime/store"
)

// Remove removes what Find found, and calls removed after each. No run begins meanwhile;
// what has come into use since stays, and is told as an error. It can be ended at any
// moment: what could be found goes first, and the next removal takes the rest.
func (f *Found) Remove(ctx context.Context, removed func(Item)) error {
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	var errs []error
	for _, i := range f.Removable() {
		if ctx.Err() != nil {
			errs = append(errs, ctx.Err())
			break
		}
		if err := f.remove(i); err != nil {
			errs = append(errs, fmt.Errorf("%s: stays: %w", i.Path, store.Reason(err)))
			continue
		}
		removed(i)
	}
	return errors.Join(append(errs, unlock())...)
}

// lock keeps runs of all specs from beginning.
func (f *Found) lock() (unlock func() error, err error) {
	var retained []func() error
	unlock = func() error {
		var errs []error
		for _, u := range retained {
			errs = append(errs, u())
		}
		return errors.Join(errs...)
	}
	for _, name := range f.Names {
		u, err := store.LockRuns(f.rules.Disk, f.rules.Out, name)
		if err != nil {
			return nil, errors.Join(err, unlock())
		}
		retained = append(retained, u)
	}
	return unlock, nil
}

// errUsed marks what has changed while somebody thought about it.
var errUsed = errors.New("it has been used since it was found")

// still reports whether an item would be found again; no run begins meanwhile.
func (f *Found) still(i Item) bool {
	if i.What == Cached || i.What == Paid {
		return !lastUsed(i.Path).After(f.rules.Before)
	}
	again, path := &Found{rules: f.rules}, i.Path
	if i.What == Release {
		path = filepath.Dir(path)
	}
	again.run(path, i.name, ledgers{})
	return slices.ContainsFunc(again.Removable(), func(o Item) bool { return o.Path == i.Path && o.What == i.What })
}

func (f *Found) remove(i Item) error {
	if !f.still(i) {
		return errUsed
	}
	switch i.What {
	case Run:
		return f.removeRun(i)
	case Release:
		return f.removeRelease(i)
	}
	return f.removeCached(i)
}

// removeCached takes the manifest first, without which nobody finds the output.
func (f *Found) removeCached(i Item) error {
	names := f.Names
	if i.name != "" {
		names = []string{i.name}
	}
	for _, name := range names {
		if err := f.idle(name); err != nil {
			return err
		}
	}
	d := f.rules.Disk
	if err := d.Remove(filepath.Join(i.Path, "manifest.json")); err != nil {
		return err
	}
	return d.RemoveAll(i.Path)
}

// idle refuses while a process works on a run of the spec.
func (f *Found) idle(name string) error {
	runs, err := store.Entries(filepath.Join(f.rules.Out, name))
	if err != nil {
		return gone(err)
	}
	for _, path := range runs {
		if store.Held(f.rules.Disk, path) {
			return fmt.Errorf("a process works on %s: %w", path, disk.ErrLocked)
		}
	}
	return nil
}

// removeRun takes the record first: without it a run is not found, and counts as one that
// never began.
func (f *Found) removeRun(i Item) error {
	unlock, err := f.hold(i.Path)
	if err != nil {
		return err
	}
	d := f.rules.Disk
	if err = d.Remove(filepath.Join(i.Path, "run.json")); err == nil {
		err = d.RemoveAll(i.Path)
	}
	return errors.Join(err, unlock())
}

// removeRelease takes the name first: a release is whole or not there.
func (f *Found) removeRelease(i Item) error {
	run := store.RunDir{Path: filepath.Dir(i.Path)}
	unlock, err := f.hold(run.Path)
	if err != nil {
		return err
	}
	d := f.rules.Disk
	if i.Path == run.Release() {
		if err = d.RemoveAll(run.Aside()); err == nil {
			err = d.Rename(run.Release(), run.Aside())
		}
	}
	if err == nil {
		err = d.RemoveAll(run.Aside())
	}
	return errors.Join(err, unlock())
}

// hold locks a run that nobody works on. A folder without internal/ was made by a run that
// was killed before it could lock it.
func (f *Found) hold(path string) (unlock func() error, err error) {
	dir := store.RunDir{Disk: f.rules.Disk, Path: path}
	info, err := os.Lstat(dir.Internal())
	if gone(err) == nil && err != nil {
		return func() error { return nil }, nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("internal, in it, is not a folder, must be one")
	}
	if err != nil {
		return nil, err
	}
	if err := dir.Lock(); err != nil {
		return nil, err
	}
	return dir.Unlock, nil
}
