package book

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// Charged lists the charges of a record, each as often as it stands there, in an order
// of their own: stages that run side by side pay in any.
func Charged(r *record.Run) []string {
	list := make([]string, len(r.Charges))
	for i, c := range r.Charges {
		list[i] = store.Compact([]any{c.ID, c.Run, c.Stage, c.Name, c.Event})
	}
	slices.Sort(list)
	return list
}

// Promised lists the charges that the run of a replay has to have: their ids follow from its name and, as the
// replay's own do, from what its stages did.
func Promised(again *record.Run) []string {
	named := *again
	named.Charges = slices.Clone(again.Charges)
	for i, c := range named.Charges {
		_, did, _ := strings.Cut(c.ID, "/")
		named.Charges[i].ID = cmp.Or(c.Run, again.ID) + "/" + did
	}
	return Charged(&named)
}

// DifferentLedger looks for the run's charges in the ledger, and for every line that
// the ledger had when the run ended. A run that paid says where, and what it left
// there; otherwise nothing could be looked up.
func DifferentLedger(old *record.Run, paid bool) []string {
	of := old.Dataset
	if paid && (of.Ledger == "" || of.LedgerCount == 0 || of.LedgerHead == "") {
		return []string{"run.json: dataset is without the ledger, its count or its head, and the run paid"}
	}
	if of.Ledger == "" {
		return nil
	}
	data, err := disk.ReadFile(of.Ledger, 0)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = disk.ReadFile(of.Ledger+dataset.JoinedSuffix, 0) // weir ledger continue set it aside, as it was
	}
	if err != nil {
		return []string{"ledger: " + of.Ledger + " cannot be read"}
	}
	entries, err := ledger.Parse(data)
	if err == nil {
		err = ledger.Includes(entries, ledger.Head{Count: of.LedgerCount, Hash: of.LedgerHead})
	}
	if err != nil {
		return []string{err.Error()}
	}
	lines := map[string]ledger.Entry{}
	for _, e := range entries {
		lines[e.ID] = e
	}
	var differ []string
	for _, c := range old.Charges {
		// A charge without a proven bound has no event in the ledger.
		if e, ok := lines[c.ID]; !ok || e.Unproven == "" && store.Compact(e.Event) != store.Compact(c.Event) {
			differ = append(differ, "ledger: is without the charge "+c.ID)
		}
	}
	return differ
}
