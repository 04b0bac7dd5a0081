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
	data, is := strings.CutSuffix(path, LedgerSuffix)
	if !is {
		return nil
	}
	own := owner{}
	found, err := readPrivate(data+OwnerSuffix, &own, ownerCure)
	if err != nil || !found || !store.SamePath(own.Ledger, path) {
		return err
	}
	if err := ledger.Includes(entries, own.head()); err != nil {
		return fmt.Errorf("must hold the charges that %s knows of: %w; bring it back from the owner's copy: weir ledger restore %s; or restore it from version control or a backup", data+OwnerSuffix, err, quoted(data))
	}
	return nil
}
