package runtime

import (
	"errors"
	"path/filepath"

	"weir/runtime/dataset"
)

// sweep removes what killed runs were writing: unfinished files of the cache and of
// internal folders hold private rows. Files that a living process writes are left to it.
func (r *run) sweep(base string) {
	n, err := r.opts.Disk.Sweep(base)
	for _, owners := range []string{"datasets", "owners", "ledgers"} {
		more, failed := r.opts.Disk.Sweep(filepath.Join(r.opts.owners(), owners))
		n, err = n+more, errors.Join(err, failed)
	}
	for _, path := range r.besideData() {
		more, failed := r.opts.Disk.SweepBeside(path)
		n, err = n+more, errors.Join(err, failed)
	}
	if n > 0 {
		r.opts.Log.Warn("removed unfinished files that a killed run had left", "files", n)
	}
	if err != nil {
		r.opts.Log.Warn("unfinished files of a killed run could not be looked for everywhere", "why", err)
	}
}

// besideData lists the files that a run keeps in folders of the user's.
func (r *run) besideData() (paths []string) {
	if r.source.Path != "" {
		paths = append(paths, r.source.Path+dataset.OwnerSuffix)
	}
	if r.record.Dataset.Ledger != "" {
		paths = append(paths, r.record.Dataset.Ledger)
	}
	return paths
}
