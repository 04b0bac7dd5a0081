package book

import (
	"cmp"
	"fmt"
	"path/filepath"

	"weir/privacy/ledger"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// witnesses is what is known of a ledger beside the file itself.
type witnesses struct {
	heads  []store.Head
	kept   []ledger.Entry
	beside dataset.KnownBeside // by the file that the ledger lies beside, which another folder of runs may have charged
}

// witnesses reads them before the ledger is read, as another run may charge and end in between.
func (p Place) witnesses(of Dataset, path string) (w witnesses, err error) {
	if w.heads, err = p.heads(of, path); err != nil {
		return w, err
	}
	if of.Known == nil {
		return w, nil
	}
	w.beside, err = dataset.Beside(path)
	kept, unread := of.kept()
	w.kept = kept
	return w, cmp.Or(unread, err)
}

// heads are what the records of runs under p.Out say of the ledger at path. An id without
// an owner's side is shared: all runs with noise from a seed have one. A record that names
// a ledger relative to a folder, and not the folder, tells of no ledger that can be found.
func (p Place) heads(of Dataset, path string) ([]store.Head, error) {
	if p.Shown {
		return nil, nil
	}
	all, err := p.Seen.Heads(p.Out, of.ID)
	if of.Known != nil || err != nil {
		return all, err
	}
	var own []store.Head
	for _, h := range all {
		if filepath.IsAbs(h.Ledger) && store.SamePath(h.Ledger, path) {
			own = append(own, h)
		}
	}
	return own, nil
}

// checkHeads refuses a ledger that lacks charges which the records of runs state: its end
// was cut off, or it was removed. Where the way back is told already, checkHeads adds the record alone.
func checkHeads(entries []ledger.Entry, heads []store.Head, of Dataset, told bool) error {
	for _, h := range heads {
		err := ledger.Includes(entries, ledger.Head{Count: h.Count, Hash: h.Hash})
		if err == nil || writtenAgain(entries, h) {
			continue
		}
		if told {
			return dataset.Refusal{Err: fmt.Errorf("must also hold the charges that %s states; to start another budget, remove that record too", h.Record)}
		}
		return dataset.Refusal{Err: fmt.Errorf("must hold the charges that %s states: %w; %s, join it with the ledger of the branch that has them (weir ledger merge), "+
			"show those runs again, or, to start another budget knowingly, remove that record", h.Record, err, of.howToRestore())}
	}
	return nil
}

// howToRestore says where lost lines of a ledger come back from.
func (d Dataset) howToRestore() string {
	again := "restore the ledger from version control or a backup"
	if d.Known != nil {
		again = d.Known.HowToRestore() + "; or " + again
	}
	return again
}

// writtenAgain reports whether a ledger that is not the one of a head has as many charges
// and those of the run: showing a finished run writes what the ledger lacks of it.
func writtenAgain(entries []ledger.Entry, h store.Head) bool {
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
