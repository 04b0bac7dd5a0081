package dataset

import (
	"fmt"
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
	data string // the table that both lie beside
	head ledger.Head
}

// Beside reads it: before the ledger is read, where others may be charging it.
func Beside(path string) (known KnownBeside, err error) {
	data, is := strings.CutSuffix(path, LedgerSuffix)
	if !is {
		return known, nil
	}
	own := owner{}
	found, err := readPrivate(data+OwnerSuffix, &own, ownerCure)
	if err != nil || !found || !store.SamePath(own.Ledger, path) {
		return known, err
	}
	return KnownBeside{data, own.head()}, nil
}

// Check refuses a ledger that lacks charges.
func (k KnownBeside) Check(entries []ledger.Entry) error {
	if err := ledger.Includes(entries, k.head); err != nil {
		return Refusal{fmt.Errorf("must hold the charges that %s knows of: %w; bring it back from the owner's copy: weir ledger restore %s; or restore it from version control or a backup", k.data+OwnerSuffix, err, quoted(k.data))}
	}
	return nil
}
