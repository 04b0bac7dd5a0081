package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/runtime/store"
)

// CheckBeside refuses a ledger that lacks charges of which the owner file beside it knows.
// There may be no such file, or it may keep the head of a ledger elsewhere.
func CheckBeside(path string, entries []ledger.Entry) error {
	known, err := Beside(path)
	if err != nil {
		return err
	}
	return known.Check(entries)
}

// KnownBeside is what the owner file beside a ledger knows of it.
type KnownBeside struct {
	data string // the name that both go by, such as the table's
	head ledger.Head
}

// Beside reads it: before the ledger is read, where others may be charging it.
func Beside(path string) (known KnownBeside, err error) {
	holder, home := owner{}, homeOf(path)
	found, err := readPrivate(home, &holder, ownerCure)
	if err != nil || !found || !store.SamePath(holder.Ledger, path) && exists(holder.Ledger) {
		return known, err
	}
	return KnownBeside{strings.TrimSuffix(home, OwnerSuffix), holder.head()}, nil
}

// LedgerOf returns where the ledger of a table lies: where the owner file beside the table says, as
// for a run, and beside the table where there is none.
func LedgerOf(table string) (string, error) {
	holder := owner{}
	found, err := readPrivate(OwnerName(table), &holder, ownerCure)
	if err != nil || !found || !exists(holder.Ledger) {
		return LedgerName(table), err
	}
	return holder.Ledger, nil
}

// CheckOf refuses a ledger of a table that lacks charges of which the owner file beside the table knows.
func CheckOf(table string, entries []ledger.Entry) error {
	holder := owner{}
	if found, err := readPrivate(OwnerName(table), &holder, ownerCure); err != nil || !found {
		return err
	}
	return KnownBeside{table, holder.head()}.Check(entries)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// Check refuses a ledger that lacks charges.
func (k KnownBeside) Check(entries []ledger.Entry) error {
	if err := ledger.Includes(entries, k.head); err != nil {
		return Refusal{fmt.Errorf("must hold the charges that %s knows of: %w; bring it back from the owner's copy: weir "+
			"ledger restore %s; or restore it from version control or a backup", OwnerName(k.data), err, quoted(k.data))}
	}
	return nil
}

// Peek says which dataset the file at path is known as, by its owner file, the ledger beside it or
// the one that is asked for, without opening the file; nil where none is there. Content that is known
// under another path, only a run finds. Where the owner file is damaged
// (ErrDamaged), the ledger alone says it. The file may be absent, as where a ledger is committed
// and the data are not. Nothing is written.
func Peek(out, path, version string) (*Identity, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	real, err := resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		real, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	path = real
	p := placeOf(out, path)
	holder, damaged := p.load()
	if damaged != nil && !errors.Is(damaged, ErrDamaged) {
		return nil, damaged
	}
	if holder == nil {
		id, err := byLedgers(p, out, LedgerName(p.path), version)
		return id, errors.Join(damaged, err)
	}
	if _, err := os.Stat(p.beside); err != nil {
		p.owner = p.aside
	}
	return &Identity{ID: holder.ID, Path: path, Ledger: holder.Ledger, head: holder.head(), place: p, out: out}, nil
}

// byLedgers returns the dataset of the first ledger that is there.
func byLedgers(p place, out string, paths ...string) (*Identity, error) {
	for _, path := range paths {
		if id, err := peekBeside(p, out, path); id != nil || err != nil {
			return id, err
		}
	}
	return nil, nil
}

// peekBeside returns the dataset that the ledger at path names.
func peekBeside(p place, out, path string) (*Identity, error) {
	data, err := disk.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := ledger.Parse(data)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return &Identity{ID: entries[len(entries)-1].Dataset, Path: p.path, Ledger: path, place: p, out: out}, nil
}
