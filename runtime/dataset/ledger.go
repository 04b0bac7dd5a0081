package dataset

import (
	"errors"
	"fmt"
	"os"

	"weir/privacy/ledger"
)

// CheckLedger refuses a ledger that lacks charges of which the owner's side
// knows: it was deleted, cut, or is another one.
func (id *Identity) CheckLedger(entries []ledger.Entry) error {
	err := ledger.Includes(entries, id.head)
	if err == nil {
		return nil
	}
	return Refusal{fmt.Errorf("the ledger of %s must hold the charges that were made: %w; restore %s from version control or a backup, or join it with that of the branch that has them (weir ledger merge), or, to start another budget knowingly, remove %s and %s",
		id.ID, err, id.Ledger, id.place.owner, (&index{dir: indexDir(id.out)}).recordPath(id.ID))}
}

// NoteLedger keeps the head that a charge left, beside the data and in the index.
func (id *Identity) NoteLedger(path string, head ledger.Head) error {
	return id.update(func(rec *record) error {
		rec.note(path, head)
		return nil
	})
}

// KnownPrivate reports that a content is that of a dataset which runs under out
// have read as a private one, and which.
func KnownPrivate(out, digest string) (what string, is bool, err error) {
	if _, err := os.Stat(indexDir(out)); errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	x, err := readIndex(out)
	if err != nil {
		return "", false, err
	}
	r := x.byContent(digest)
	if r == nil {
		return "", false, nil
	}
	return r.name(), true, nil
}
