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
// of the ledger in the owner's copy, and then its head beside the data and in the index. It refuses
// another ledger than the first that was charged. Of a
// crash in between, the next opening finds a copy that is behind the ledger, or a head that is
// behind the copy, and brings it up to date. Where the ledger lies elsewhere than the data, the
// same is kept beside the ledger.
func (id *Identity) NoteLedger(path string, entries []ledger.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	err := id.update(func(rec *record) error {
		if err := rec.secondLedger(path); err != nil {
			return err
		}
		if err := id.keptFault(id.ownerCopy().Follow(entries)); err != nil {
			return err
		}
		rec.note(path, headOf(entries))
		return nil
	})
	if err != nil {
		return err
	}
	return id.noteHome(path, entries)
}

// secondLedger refuses the ledger at a path while another one is there that was charged: of two runs that make the
// first charge of a dataset side by side, to the ledgers of two copies, one draws no noise.
func (o *owner) secondLedger(path string) error {
	_, err1 := os.Stat(o.Ledger)
	_, err2 := os.Stat(path)
	if o.LedgerCount == 0 || err1 != nil || err2 != nil || store.SamePath(o.Ledger, path) {
		return nil
	}
	return Refusal{fmt.Errorf("%s: is a second ledger of %s beside %s, must be one: join them (weir ledger merge %s %s) "+
		"and move the second away",
		path, o.ID, o.Ledger, quoted(o.Ledger), quoted(path))}
}

// KnownPrivate reports that the content of a file is one of a dataset, or of a part of one, which runs under out have
// read as a private one, or runs under another folder of an owner file beside it; and which dataset.
func KnownPrivate(out, path, digest string) (what string, is bool, err error) {
	if _, err := os.Stat(indexDir(out)); err == nil {
		x, err := readIndex(out)
		if err != nil {
			return "", false, err
		}
		if r := x.byContent(digest); r != nil {
			return r.name(), true, nil
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", false, err
	}
	holder, _, err := ownerOf(filepath.Dir(path),
		func(o *owner) bool { return o.known(macOf(o.Key.Key, "content", digest)) })
	if holder == nil || err != nil {
		return "", false, err
	}
	return holder.ID, true, nil
}

// MostOfLedger is how many bytes of a ledger are read: a million charges and more.
const MostOfLedger = 1 << 30

// ErrNoLedger marks a ledger that is not there: nothing was charged, or it lies elsewhere.
var ErrNoLedger = errors.New("no such ledger; a dataset without charges has none")

// LedgerError is what is wrong with a ledger: it was altered, is of an earlier format (ledger.ErrOldFormat), lacks
// charges, or is not a ledger.
type LedgerError struct {
	Path string
	err  error
}

func (e *LedgerError) Error() string { return e.Path + ": " + e.err.Error() }
func (e *LedgerError) Unwrap() error { return e.err }

// LedgerFault returns err as what is wrong with the ledger at path; nil stays nil.
func LedgerFault(path string, err error) error {
	if err == nil {
		return nil
	}
	return &LedgerError{path, err}
}

// ReadLedger reads and checks the ledger at path, and that it holds the charges that the owner file beside it knows of.
func ReadLedger(path string) ([]ledger.Entry, error) {
	data, err := disk.ReadFile(path, MostOfLedger)
	if errors.Is(err, fs.ErrNotExist) {
		if lost := CheckBeside(path, nil); lost != nil {
			return nil, LedgerFault(path, lost)
		}
		return nil, fmt.Errorf("%s: %w", path, ErrNoLedger)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, store.Reason(err))
	}
	if len(data) > 0 && data[0] != '{' && !strings.HasSuffix(path, LedgerSuffix) {
		return nil, LedgerFault(path, errors.New("is neither a ledger nor a table that a run has charged, must be one: "+
			"a table has its ledger beside it (name several files by their pattern)"))
	}
	entries, err := ledger.Parse(data)
	if err == nil {
		err = CheckBeside(path, entries)
	}
	return entries, LedgerFault(path, err)
}

// IsTable reports whether path is a table, which has a ledger or an owner file beside it: people name their table.
func IsTable(path string) bool {
	for _, file := range []string{LedgerName(path), OwnerName(path)} {
		if _, err := os.Stat(file); err == nil && !strings.HasSuffix(path, LedgerSuffix) {
			return true
		}
	}
	return false
}

// ReadLedgerOf reads the ledger at path or, where path is a table, the ledger of that table, which may lie elsewhere
// (LedgerOf); file is where it lies.
func ReadLedgerOf(path string) (file string, entries []ledger.Entry, err error) {
	if !IsTable(path) {
		entries, err = ReadLedger(path)
		return path, entries, err
	}
	if file, err = LedgerOf(path); err != nil && !errors.Is(err, ErrDamaged) {
		return file, nil, LedgerFault(file, err)
	}
	if entries, err = ReadLedger(file); err == nil {
		err = LedgerFault(file, CheckOf(path, entries))
	}
	return file, entries, err
}
