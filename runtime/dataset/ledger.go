package dataset

import (
	"errors"
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
	return id.refuseLedger(err)
}

// NoteLedger keeps, once charges are in the ledger and before their noise is drawn, the lines
// of the ledger in the owner's copy, and then its head beside the data and in the index. Of a
// crash in between, the next opening finds a copy that is behind the ledger, or a head that is
// behind the copy, and brings it up to date.
func (id *Identity) NoteLedger(path string, entries []ledger.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return id.update(func(rec *record) error {
		if err := id.keptFault(id.kept().Follow(entries)); err != nil {
			return err
		}
		rec.note(path, headOf(entries))
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
