package runtime

import (
	"errors"
	"path/filepath"
	"strings"

	"weir/runtime/dataset"
	"weir/runtime/store"
)

// ExperimentsDir lies beside the runs of a name and holds the tables of its experiments.
const ExperimentsDir = "sweeps"

// removeLeftovers removes what killed runs were writing: unfinished files of the cache and of
// internal folders hold private rows. Files that a living process writes are left to it,
// and so is whatever else lies in folders that the user may have named alike.
func (r *run) removeLeftovers(base string) {
	n, err := 0, error(nil)
	add := func(more int, failed error) { n, err = n+more, errors.Join(err, failed) }
	folders, failed := store.RunFolders(base)
	add(0, failed)
	stored, failed := r.outputs.cache.Folders()
	add(0, failed)
	for _, ours := range append(append(folders, stored...), filepath.Join(base, ExperimentsDir)) {
		add(r.opts.Disk.Sweep(ours))
	}
	for dir, ours := range r.shared() {
		add(r.opts.Disk.SweepFolder(dir, ours))
	}
	if n > 0 {
		r.opts.Log.Warn("removed unfinished files that a killed run had left", "files", n)
	}
	if err != nil {
		r.opts.Log.Warn("unfinished files of a killed run could not be looked for everywhere", "why", err)
	}
}

// shared lists the folders in which files of weir's lie beside others, and which are its.
func (r *run) shared() map[string]func(name string) bool {
	out := r.opts.owners()
	ledger := func(name string) bool { return strings.HasSuffix(name, dataset.LedgerSuffix) }
	owner := func(name string) bool {
		return strings.HasSuffix(name, dataset.OwnerSuffix) || strings.HasSuffix(name, dataset.KeptSuffix)
	}
	all := map[string]func(string) bool{
		filepath.Join(out, "datasets"): dataset.InIndex, filepath.Join(out, "owners"): owner,
		filepath.Join(out, "ledgers"): ledger,
	}
	if r.record.Dataset.Ledger != "" {
		all[filepath.Dir(r.record.Dataset.Ledger)] = ledger
	}
	if r.source.Path != "" {
		all[filepath.Dir(r.source.Path)] = func(name string) bool { return ledger(name) || owner(name) }
	}
	return all
}
