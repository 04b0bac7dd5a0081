package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/internal/disk"
	"weir/privacy/noise"
	"weir/runtime/store"
)

// Continuation says that the file New is a later state of the dataset Old, a
// file or its ledger, so that one budget holds for both.
type Continuation struct {
	Disk     disk.Disk
	Out      string
	Old, New string
	Random   io.Reader // of the operating system, for the key of a new index
	Clock    func() time.Time
}

// ErrUnknown marks a dataset that no run has read.
var ErrUnknown = errors.New("is not known, must be a dataset that has been run, or its ledger")

// Continued is what New is part of now.
type Continued struct {
	ID, Ledger string
	Charges    int    // of New's own ledger, which Ledger holds too now
	Former     string // where New's own ledger lies now, or ""
}

// Continue gives New the id, key and ledger of Old. Charges that New has in a ledger
// of its own are appended to Old's, and the file is set aside. An interrupted
// Continue has charged too much rather than too little, and is finished by another.
func Continue(c Continuation) (done Continued, err error) {
	if c.Out, err = filepath.Abs(c.Out); err != nil {
		return done, err
	}
	p, err := locate(c.Disk, c.Out, c.New, false)
	if err != nil {
		return done, err
	}
	err = locked(c.Disk, c.Out, c.Random, func(x *index) (err error) {
		unlock, err := lock(x.disk, p.owner)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		old, home, err := x.origin(c)
		if err != nil {
			return err
		}
		done, err = x.attach(old, home, p, c.Clock)
		return err
	})
	return done, err
}

// origin returns what is known of a dataset named by its file or its ledger. The file
// itself may be gone. home is where its ledger will lie, if it has none yet.
func (x *index) origin(c Continuation) (holder *owner, home string, err error) {
	oldPath, err := filepath.Abs(c.Old)
	if err != nil {
		return nil, "", err
	}
	path, err := resolveAbsent(strings.TrimSuffix(oldPath, LedgerSuffix))
	if err != nil {
		return nil, "", err
	}
	holder, err = placeOf(c.Out, path).load()
	if err != nil {
		return nil, "", err
	}
	if r := x.find(func(r *record) bool { return r.lies(path) || r.Ledger == oldPath }); holder == nil && r != nil {
		holder = &r.owner
	}
	if holder == nil {
		holder, err = x.ofLedger(c, oldPath, LedgerName(path))
	}
	if holder == nil && err == nil {
		err = fmt.Errorf("%s: %w", c.Old, ErrUnknown)
	}
	if err != nil {
		return nil, "", err
	}
	return holder, ledgerHome(c.Disk, c.Out, path, holder.ID), nil
}

// ofLedger returns the dataset of a ledger whose owner file is gone: it gets a new key.
func (x *index) ofLedger(c Continuation, paths ...string) (*owner, error) {
	for _, path := range paths {
		if !strings.HasSuffix(path, LedgerSuffix) {
			continue // the table, which may be large
		}
		entries, _, err := chargesAt(path, "")
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			continue
		}
		holder := &owner{ID: entries[0].Dataset}
		if !validID(holder.ID) {
			return nil, fmt.Errorf("%s: is of a dataset without a random id, must be of ds- and 32 hex digits", path)
		}
		if known := x.byID(holder.ID); known != nil {
			return &known.owner, nil
		}
		holder.note(path, headOf(entries))
		holder.Key.Key, err = noise.NewKey(c.Random)
		return holder, err
	}
	return nil, nil
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

// attach makes the file at p part of the dataset old. The owner file of p is written
// last: until then a repetition finds the former id there and does all of it again,
// what is done already to no effect.
func (x *index) attach(old *owner, home string, p place, clock func() time.Time) (done Continued, err error) {
	done = Continued{ID: old.ID, Ledger: old.Ledger}
	holder, err := x.former(p)
	switch {
	case err != nil || holder != nil && holder.ID == old.ID && holder.keyed():
		return done, err
	case holder != nil && holder.ID == old.ID:
		holder = nil // a copy of OLD's ledger lies beside New
	}
	rec := x.byID(old.ID)
	if rec == nil {
		rec = &record{owner: *old}
	}
	if err := errors.Join(rec.join(old), rec.joinHome("", "")); err != nil {
		return done, err
	}
	var moved []spot
	if holder != nil {
		if moved, err = x.absorb(rec, holder, transfer{x.disk, &done, home, clock}); err != nil {
			return done, err
		}
	}
	lines, _, err := chargesAt(rec.Ledger, "")
	if err != nil {
		return done, err
	}
	theirs := rec.ownSpots()
	rec.addPlace(p)
	return done, firstOf(
		func() error { return keepAt(x.disk, rec.ID, lines, theirs...) },
		func() error { return x.save(rec) },
		func() error { return x.dismiss(holder) },
		func() error { return done.setAside(x.disk, holder) },
		func() error { return keepAt(x.disk, rec.ID, lines, append(moved, spot{Owner: p.owner})...) },
		func() error { return rec.writeOwners(x.disk, moved) },
		func() error { return writePrivate(x.disk, p.owner, rec.owner) })
}

// firstOf carries out steps until one fails.
func firstOf(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// former returns what is known of the file at p under an id of its own; nil is nothing.
// Without an owner file, as where another machine has it, the ledger beside it says.
func (x *index) former(p place) (*owner, error) {
	holder, err := p.load()
	if err != nil || holder != nil && holder.Ledger != "" {
		return holder, err
	}
	entries, path, err := chargesAt(LedgerName(p.path), "")
	if err != nil || len(entries) == 0 {
		return holder, err
	}
	if holder == nil {
		holder = &owner{ID: entries[0].Dataset}
	}
	if holder.ID == entries[0].Dataset {
		holder.note(path, headOf(entries))
	}
	return holder, nil
}

// absorb takes over the contents, rows, places and charges of another id.
func (x *index) absorb(rec *record, holder *owner, t transfer) (moved []spot, err error) {
	former := x.byID(holder.ID)
	if former == nil {
		former = &record{owner: *holder}
	} else if holder.keyed() {
		if err := former.join(holder); err != nil {
			return nil, err
		}
	}
	*holder = former.owner
	homes := []owner{*holder, rec.owner}
	if err := t.charges(rec, holder); err != nil {
		return nil, err
	}
	for _, mac := range former.Macs {
		rec.addContent(mac, former.sketches)
	}
	for _, s := range former.Places {
		if !rec.lies(s.Path) {
			rec.Places = append(rec.Places, s)
		}
	}
	for _, s := range rec.Places { // places of an interrupted Continue too, and Old's own, which learn the head
		if isAt(s.Owner, former.ID) || isAt(s.Owner, rec.ID) {
			moved = append(moved, s)
		}
	}
	for _, o := range homes { // and those beside the two ledgers
		if home := homeOf(o.Ledger); o.isAt(home) && !slices.ContainsFunc(moved,
			func(s spot) bool { return store.SamePath(s.Owner, home) }) {
			moved = append(moved, spot{Owner: home})
		}
	}
	return moved, nil
}

// dismiss forgets the former id.
func (x *index) dismiss(holder *owner) error {
	if holder == nil {
		return nil
	}
	if former := x.byID(holder.ID); former != nil {
		return x.remove(former)
	}
	return nil
}

// ownSpots lists the places whose owner file is of the dataset already.
func (r *record) ownSpots() (list []spot) {
	for _, s := range r.Places {
		if isAt(s.Owner, r.ID) {
			list = append(list, s)
		}
	}
	return list
}

// isAt reports whether the owner file at path is of that id: a place may have
// become another dataset's since.
func isAt(path, id string) bool {
	own := owner{}
	found, err := readPrivate(path, &own, ownerCure)
	return found && err == nil && own.ID == id
}

// isAt reports whether the owner file at path is of the dataset, and of this side of it.
func (o *owner) isAt(path string) bool {
	own := owner{}
	found, err := readPrivate(path, &own, ownerCure)
	return found && err == nil && own.ID == o.ID && own.Key == o.Key
}

func (r *record) writeOwners(d disk.Disk, at []spot) (err error) {
	for _, s := range at {
		err = errors.Join(err, writePrivate(d, s.Owner, r.owner))
	}
	return err
}
