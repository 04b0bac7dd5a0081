package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/runtime/store"
)

// MostOfLedger is how many bytes of a ledger are read: a million charges and more.
const MostOfLedger = 1 << 30

// ErrNoLedger marks a ledger that is not there: nothing was charged, or it lies elsewhere.
var ErrNoLedger = errors.New("no such ledger; a dataset without charges has none")

// LedgerError is what is wrong with a ledger: it was altered, is of an earlier format (ledger.ErrOldFormat), lacks
// charges, or is no ledger.
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
		return nil, LedgerFault(path, errors.New("is no ledger and no table that a run has charged, must be one: "+
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
