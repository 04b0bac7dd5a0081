package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weir/privacy/ledger"
	"weir/runtime/store"
)

// homeOf returns the path of the owner file that lies beside a ledger, wherever that is: t.weir-owner.json beside
// t.weir-ledger.jsonl, which is the owner file of the table t where the ledger lies beside its table. A link is
// followed, so that a ledger of several names has one; "" is of no ledger.
func homeOf(path string) string {
	if path == "" {
		return ""
	}
	if _, err := os.Readlink(path); err == nil {
		path = store.Resolved(path)
	}
	return strings.TrimSuffix(path, LedgerSuffix) + OwnerSuffix
}

// BesideLedger lists the files that the owner's side keeps beside a ledger: a confined spec must be allowed to name
// them.
func BesideLedger(path string) []string {
	home := homeOf(path)
	return []string{home, home + ".lock", keptPath(home)}
}

// home returns the owner file beside the dataset's ledger. Runs of all its files bind versions and note the head
// there too, whatever their folders of runs; "" where own is that file, or there is no ledger.
func (o *owner) home(own string) string {
	if home := homeOf(o.Ledger); !store.SamePath(home, own) {
		return home
	}
	return ""
}

// joinHome takes up what versions mean by the owner file beside the ledger.
// Before the first charge it lies where the run is asked to charge.
func (o *owner) joinHome(ownerBytes, asked string) error {
	home := owner{}
	at := owner{Ledger: cmp.Or(o.Ledger, asked)}
	if found, err := readPrivate(at.home(ownerBytes), &home, ownerCure); err != nil || !found || home.ID != o.ID ||
		home.Key != o.Key {
		return err
	}
	for _, c := range home.Contents {
		o.take(c)
	}
	return nil
}

// noteHome takes up the head that is noted beside the ledger, by this side of the dataset or another one.
func (o *owner) noteHome(own string) error {
	home := owner{}
	found, err := readPrivate(o.home(own), &home, ownerCure)
	if err == nil && found && home.ID == o.ID && store.SamePath(home.Ledger, o.Ledger) {
		o.note(home.Ledger, home.head())
	}
	return err
}

// bindHome binds the version in the owner file beside the ledger: of two files of the dataset that are
// charged under two folders of runs, the second finds there what the first has bound.
func (id *Identity) bindHome(path string) error {
	return id.updateHome(path, func(home *owner) error {
		if home.Key.Key != id.key {
			return nil // another side of the dataset, which shares no secret with this one
		}
		if err := home.refuses(id.Version, id.content); err != nil {
			return fmt.Errorf("%s: %w", id.Path, err)
		}
		home.take(content{Version: id.Version, HMAC: id.content, Seen: id.seen, Charged: true, Secret: secret{id.Secret}})
		return nil
	})
}

// noteHome keeps lines and head of a ledger beside it, once they are noted beside the data: whichever file of the
// dataset is run next, on whichever side, a ledger that was taken back meanwhile is refused.
func (id *Identity) noteHome(path string, entries []ledger.Entry) error {
	return id.updateHome(path, func(home *owner) error {
		if err := home.secondLedger(path); err != nil {
			return err
		}
		id.keeper.home.Do(func() { id.keeper.beside = ledger.NewCopy(id.place.disk, keptPath(homeOf(path)), id.ID) })
		if err := id.keptFault(id.keeper.beside.Follow(entries)); err != nil {
			return err
		}
		home.note(path, headOf(entries))
		return nil
	})
}

// updateHome changes the owner file beside a ledger, which is made where there is none. Where that is the owner file
// beside the data, it is changed by update.
func (id *Identity) updateHome(ledger string, change func(*owner) error) (err error) {
	path := (&owner{Ledger: ledger}).home(id.place.owner)
	if path == "" || !id.place.disk.Writable(filepath.Dir(path)) {
		return nil
	}
	unlock, err := lock(id.place.disk, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	home := owner{}
	found, err := readPrivate(path, &home, ownerCure)
	switch {
	case err != nil:
		return err
	case !found:
		home = owner{ID: id.ID, Key: secret{id.key}}
	case home.ID != id.ID:
		return Refusal{fmt.Errorf("%s: is the owner file of %s, must be of %s, whose ledger is asked to lie beside it; "+
			"each dataset has a ledger of its own: name another file (dataset.ledger or --ledger)", path, home.ID, id.ID)}
	}
	if err := change(&home); err != nil {
		return err
	}
	return writePrivate(id.place.disk, path, home)
}
