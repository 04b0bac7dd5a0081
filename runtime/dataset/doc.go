// Package dataset tells which dataset a file is: a random id that may be
// published, and on the owner's side the key by which content is matched, the
// ledger that belongs to it, and the datasets that share rows with it. It is
// what makes a budget follow the data through copies, links and edits. See
// docs/design/identity.md.
package dataset

const (
	// OwnerSuffix ends the name of the file that a dataset's owner keeps beside it.
	OwnerSuffix = ".weir-owner.json"
	// LedgerSuffix ends the name of a ledger.
	LedgerSuffix = ".weir-ledger.jsonl"
)

// Refusal is an error of privacy rather than of the machine: going on would give
// a dataset a second budget, or make a private table pass for a public one.
type Refusal struct{ Err error }

func (r Refusal) Error() string { return r.Err.Error() }
func (r Refusal) Unwrap() error { return r.Err }
