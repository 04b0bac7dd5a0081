package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/runtime/store"
)

// place is where a dataset lies, and where its owner file lies: beside it, or
// with the runs where its folder is read-only, or nothing is charged, which leaves no
// mark on that folder. Both may exist, where that changed in between.
type place struct {
	disk   disk.Disk
	path   string // links resolved; of a pattern the links of its folder
	beside string
	aside  string
	owner  string // the one of both that is written
}

func locate(d disk.Disk, out, path string, uncharged bool) (place, error) {
	if path == "" {
		return place{}, errors.New("dataset: is without a path, must be a file")
	}
	path, err := resolve(path)
	if err != nil {
		return place{}, err
	}
	p := placeOf(out, path)
	p.disk = d
	if uncharged || !d.Writable(filepath.Dir(path)) {
		p.owner = p.aside
		if err = store.MakeRuns(d, out); err == nil {
			err = d.MkdirAll(filepath.Dir(p.aside), 0o700)
		}
	}
	return p, err
}

// placeOf returns the place of a resolved path.
func placeOf(out, path string) place {
	name := sha256.Sum256([]byte(pipeline.Stem(path)))
	p := place{path: path, beside: OwnerName(path), aside: filepath.Join(out, "owners", hex.EncodeToString(name[:16])+
		OwnerSuffix)}
	p.owner = p.beside
	return p
}

func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if pipeline.IsPattern(path) || pipeline.IsElsewhere(path) {
		return resolveUnwritten(path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, store.Reason(err))
	}
	return real, nil
}

// resolveUnwritten resolves the folder of a pattern, or of a table that lies in no file. A file that is called as its
// ledger would have that ledger for its own.
func resolveUnwritten(path string) (string, error) {
	dir, err := resolve(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, filepath.Base(path))
	if stem := pipeline.Stem(path); exists(stem) {
		return "", Refusal{fmt.Errorf("%s: would share the ledger %s with the file %s beside it; each table has a ledger "+
			"of its own: rename that file, or call the table otherwise",
			path, filepath.Base(LedgerName(path)), filepath.Base(stem))}
	}
	return path, nil
}

// LedgerName returns the path of the ledger beside a table; of a table in several files, by their pattern's text alone.
func LedgerName(table string) string { return pipeline.Stem(table) + LedgerSuffix }

// OwnerName returns the path of the owner file beside a table.
func OwnerName(table string) string { return pipeline.Stem(table) + OwnerSuffix }

const ownerCure = "restore it from a backup; or remove it, then weir knows the dataset by its content only, as far " +
	"as the folder of runs does"

// load reads what the owner keeps of this place; nil where there is nothing.
func (p place) load() (*owner, error) {
	var both [2]owner
	var all *owner
	for i, path := range []string{p.beside, p.aside} {
		found, err := readPrivate(path, &both[i], ownerCure)
		switch {
		case err != nil:
			return nil, err
		case !found:
		case all == nil:
			all = &both[i]
		default:
			if both[i].ID == all.ID && both[i].Key != all.Key {
				return nil, twoKeys(known{p.beside, all}, known{path, &both[i]})
			}
			if err := all.join(&both[i]); err != nil {
				return nil, Refusal{fmt.Errorf("%s: %w as %s: move away the one that is of another file", path, err, p.beside)}
			}
		}
	}
	return all, nil
}

// readOnly reports that the owner file lies with the runs.
func (p place) readOnly() bool { return p.owner == p.aside }
