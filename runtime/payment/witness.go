package payment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// witnesses holds what is known of a ledger beside the file itself.
type witnesses struct {
	heads  []Head
	kept   []ledger.Entry
	beside dataset.KnownBeside // by the file that the ledger lies beside, which another folder of runs may have charged
}

// witnesses reads them before the ledger is read, as another run may charge and end in between.
func (p Place) witnesses(data Dataset, path string) (w witnesses, err error) {
	if w.heads, err = p.heads(data, path); err != nil {
		return w, err
	}
	if data.Known == nil {
		return w, nil
	}
	w.beside, err = dataset.Beside(path)
	kept, unread := data.keptLines()
	w.kept = kept
	return w, cmp.Or(unread, err)
}

// heads returns what the records of runs under p.Out say of the ledger at path. An id without
// an owner's side is shared: all runs with noise from a seed have one. A record that names
// a ledger relative to a folder, and not the folder, tells of no ledger that can be found.
func (p Place) heads(data Dataset, path string) ([]Head, error) {
	if p.Shown {
		return nil, nil
	}
	all, err := p.Seen.Heads(p.Out, data.ID)
	if data.Known != nil || err != nil {
		return all, err
	}
	var ours []Head
	for _, h := range all {
		if filepath.IsAbs(h.Ledger) && store.SamePath(h.Ledger, path) {
			ours = append(ours, h)
		}
	}
	return ours, nil
}

// checkHeads refuses a ledger that lacks charges which the records of runs state: its end
// was cut off, or it was removed. Where the way back is told already, checkHeads adds the record alone.
func checkHeads(entries []ledger.Entry, heads []Head, data Dataset, explained bool) error {
	for _, h := range heads {
		err := ledger.Includes(entries, ledger.Head{Count: h.Count, Hash: h.Hash})
		if err == nil || writtenAgain(entries, h) {
			continue
		}
		if explained {
			return dataset.Refusal{Err: fmt.Errorf("must also hold the charges that %s states; to start another budget, "+
				"remove that record too", h.Record)}
		}
		return dataset.Refusal{Err: fmt.Errorf("must hold the charges that %s states: %w; %s, join it with the ledger of "+
			"the branch that has them (weir ledger merge), "+
			"show those runs again, or, to start another budget knowingly, remove that record", h.Record, err,
			data.howToRestore())}
	}
	return nil
}

// howToRestore returns where lost lines of a ledger come back from.
func (d Dataset) howToRestore() string {
	again := "restore the ledger from version control or a backup"
	if d.Known != nil {
		again = d.Known.HowToRestore() + "; or " + again
	}
	return again
}

// writtenAgain reports whether a ledger other than a head's has as many charges, and all charges of the run: showing a
// finished run writes what the ledger lacks of it.
func writtenAgain(entries []ledger.Entry, h Head) bool {
	known := map[string]bool{}
	for _, e := range entries {
		known[e.ID] = true
	}
	for _, id := range h.Charges {
		if !known[id] {
			return false
		}
	}
	return len(h.Charges) > 0 && len(entries) >= h.Count
}

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
	renamed := *again
	renamed.Charges = slices.Clone(again.Charges)
	for i, c := range renamed.Charges {
		_, did, _ := strings.Cut(c.ID, "/")
		renamed.Charges[i].ID = cmp.Or(c.Run, again.ID) + "/" + did
	}
	return Charged(&renamed)
}

// DifferentLedger looks for the run's charges in the ledger, and for every line that
// the ledger had when the run ended. A run that paid says where, and what it left
// there; otherwise nothing could be looked up.
func DifferentLedger(old *record.Run, paid bool) []string {
	d := old.Dataset
	if paid && (d.Ledger == "" || d.LedgerCount == 0 || d.LedgerHead == "") {
		return []string{"run.json: dataset is without the ledger, its count or its head, and the run paid"}
	}
	if d.Ledger == "" {
		return nil
	}
	data, err := disk.ReadFile(d.Ledger, 0)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = disk.ReadFile(d.Ledger+dataset.JoinedSuffix, 0) // weir ledger continue set it aside, as it was
	}
	if err != nil {
		return []string{"ledger: " + d.Ledger + " cannot be read"}
	}
	entries, err := ledger.Parse(data)
	if err == nil {
		err = ledger.Includes(entries, ledger.Head{Count: d.LedgerCount, Hash: d.LedgerHead})
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
