package pay

import (
	"weir/privacy/ledger"
	"weir/runtime/dataset"
)

// Dataset is what charges have to know of the data.
type Dataset struct {
	ID, Version string            // random, and as declared: both are public
	Path        string            // of the file; "" for a generator
	Known       *dataset.Identity // what its owner keeps; nil where rows are made up, or noise is from a seed
}

// ledgerPath is where the charges of the dataset were written before, or "".
func (d Dataset) ledgerPath() string {
	if d.Known == nil {
		return ""
	}
	return d.Known.Ledger
}

// checkLedger refuses a ledger that lacks charges which are known to be made.
func (d Dataset) checkLedger(entries []ledger.Entry) error {
	if d.Known == nil {
		return nil
	}
	return d.Known.CheckLedger(entries)
}

// noteLedger keeps the head of the ledger on the owner's side.
func (d Dataset) noteLedger(path string, head ledger.Head) error {
	if d.Known == nil {
		return nil
	}
	return d.Known.NoteLedger(path, head)
}
