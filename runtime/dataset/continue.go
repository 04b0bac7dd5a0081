package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// Continuation says that the file New is a later state of the dataset Old, a
// file or its ledger, so that one budget holds for both.
type Continuation struct {
	Out      string
	Old, New string
	Random   io.Reader // of the operating system, for the key of a new index
}

// ErrUnknown marks a dataset that no run has read.
var ErrUnknown = errors.New("is not known, must be a dataset that has been run, or its ledger")

// Continued is what New is part of now.
type Continued struct{ ID, Ledger string }

// Continue gives New the id, key and ledger of Old. It refuses a file that has
// charges of its own: they would be forgotten.
func Continue(c Continuation) (done Continued, err error) {
	if c.Out, err = filepath.Abs(c.Out); err != nil {
		return done, err
	}
	p, err := locate(c.Out, c.New)
	if err != nil {
		return done, err
	}
	err = locked(c.Out, c.Random, func(x *index) (err error) {
		unlock, err := lock(p.owner)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		old, err := x.origin(c.Out, c.Old)
		if err != nil {
			return err
		}
		done = Continued{old.ID, old.Ledger}
		return x.attach(old, p)
	})
	return done, err
}

// origin is what is known of a dataset named by its file or its ledger. The file
// itself may be gone.
func (x *index) origin(out, name string) (*owner, error) {
	named, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	path, err := resolveAbsent(strings.TrimSuffix(named, LedgerSuffix))
	if err != nil {
		return nil, err
	}
	own, err := placeOf(out, path).load()
	if own != nil || err != nil {
		return own, err
	}
	if r := x.find(func(r *record) bool { return r.lies(path) || r.Ledger == named }); r != nil {
		return &r.owner, nil
	}
	return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
}

// resolveAbsent resolves the links to a file that may be gone.
func resolveAbsent(path string) (string, error) {
	real, err := resolve(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, err := resolve(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// attach makes the file at p part of the dataset old.
func (x *index) attach(old *owner, p place) error {
	own, err := p.load()
	if err != nil || own != nil && own.ID == old.ID {
		return err
	}
	rec := x.byID(old.ID)
	if rec == nil {
		rec = &record{owner: *old}
	}
	if err := rec.join(old); err != nil {
		return err
	}
	var moved []spot
	if own != nil {
		if moved, err = x.absorb(rec, own); err != nil {
			return err
		}
	}
	rec.at(p)
	return errors.Join(x.save(rec), writePrivate(p.owner, rec.owner), rec.writeOwners(moved))
}

// absorb takes over the contents, rows and places of another id, and removes it.
func (x *index) absorb(rec *record, own *owner) (moved []spot, err error) {
	former := x.byID(own.ID)
	if former == nil {
		former = &record{owner: *own}
	} else if err := former.join(own); err != nil {
		return nil, err
	}
	if n := former.LedgerCount; n > 0 {
		return nil, Refusal{fmt.Errorf("%s: has charges in a ledger of its own (%d in %s), must have none: two ledgers cannot become one, and these would be forgotten",
			former.name(), n, former.Ledger)}
	}
	for _, mac := range former.Macs {
		rec.holds(mac, former.Rows)
	}
	for _, s := range former.Places {
		if isAt(s.Owner, former.ID) {
			moved = append(moved, s)
		}
	}
	rec.Places = append(rec.Places, moved...)
	return moved, x.remove(former)
}

// isAt reports whether the owner file at path is of that id: a place may have
// become another dataset's since.
func isAt(path, id string) bool {
	own := owner{}
	found, err := readPrivate(path, &own, ownerCure)
	return found && err == nil && own.ID == id
}

func (r *record) writeOwners(at []spot) (err error) {
	for _, s := range at {
		err = errors.Join(err, writePrivate(s.Owner, r.owner))
	}
	return err
}
