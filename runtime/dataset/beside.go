package dataset

import (
	"fmt"
	"os"
	"strings"

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
