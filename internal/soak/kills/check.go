package kills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
)

// reference runs once, unharmed, to know what a release is and how long it takes.
func (s *soak) reference() error {
	l := &life{soak: s, dir: filepath.Join(s.dir, "reference")}
	if err := l.born(); err != nil {
		return err
	}
	p, err := l.start()
	if err != nil {
		return err
	}
	if why := p.wait(); why != "" {
		return errors.New(why)
	}
	dir, _, err := l.run()
	if err == nil {
		s.want, err = store.RunDir{Path: dir}.Listing()
	}
	return err
}

// run is the one run that a life has, and its record.
func (l *life) run() (string, *record.Run, error) {
	dirs, err := store.Runs(filepath.Join(l.dir, "runs", "tiny"))
	if err != nil {
		return "", nil, err
	}
	if len(dirs) != 1 {
		return "", nil, fmt.Errorf("there are %d runs, must be 1", len(dirs))
	}
	rec, err := store.ReadRecord(dirs[0])
	return dirs[0], rec, err
}

// check says what is wrong with what a finished run left, or "".
func (l *life) check() (string, error) {
	dir, rec, err := l.run()
	if err != nil {
		return err.Error(), nil
	}
	if rec.Status != record.Done {
		return fmt.Sprintf("the run is %s, must be done", rec.Status), nil
	}
	if err := errors.Join(l.checkLedger(rec), l.checkRelease(dir, rec), l.checkFiles()); err != nil {
		return err.Error(), nil
	}
	if !l.secret {
		return "", nil
	}
	p, err := l.launch("verify", dir) // draws the noise again, and compares
	if err != nil {
		return "", err
	}
	return p.wait(), nil
}

// checkLedger: each planned charge once, and the head that the record states.
func (l *life) checkLedger(rec *record.Run) error {
	name := "data.csv.NOT-PRIVATE.weir-ledger.jsonl"
	if l.secret {
		name = "data.csv.weir-ledger.jsonl"
	}
	data, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		return err
	}
	entries, err := ledger.Parse(data)
	if err != nil {
		return err
	}
	if len(entries) != charges {
		return fmt.Errorf("the ledger has %d charges, must have %d", len(entries), charges)
	}
	if len(rec.Charges) != charges || rec.Charges[0].ID != entries[0].ID {
		return fmt.Errorf("the record states %d charges, must be those of the ledger", len(rec.Charges))
	}
	return ledger.Includes(entries, ledger.Head{Count: rec.Dataset.LedgerCount, Hash: rec.Dataset.LedgerHead})
}

// named is the one released file that says which run it is of.
const named = "release/PRIVACY.md"

// checkRelease: whole, as the record says, and byte for byte that of a run that nobody
// killed, where the noise is the same.
func (l *life) checkRelease(dir string, rec *record.Run) error {
	run := store.RunDir{Path: dir}
	if err := run.CheckRelease(rec); err != nil || l.secret {
		return err
	}
	got, err := run.Listing()
	if err != nil {
		return err
	}
	for name, digest := range l.want {
		if got[name] != digest && (got[name] == "" || name != named) {
			return fmt.Errorf("%s: is not that of a run that nobody killed", name)
		}
	}
	if len(got) != len(l.want) {
		return fmt.Errorf("the release has %d files, must have %d", len(got), len(l.want))
	}
	return nil
}

// checkFiles: nothing half-written, no private checkpoint, and nothing private that others
// may read.
func (l *life) checkFiles() error {
	var wrong []error
	closed := "\x00" // a folder that its owner alone enters
	err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if left(d.Name()) {
			wrong = append(wrong, fmt.Errorf("%s: is left", path))
		}
		info, err := d.Info()
		if err != nil || strings.HasPrefix(path, closed) || public(path) {
			return err
		}
		private := info.Mode().Perm()&0o077 == 0
		if d.IsDir() && private {
			closed = path + string(filepath.Separator)
		}
		if !d.IsDir() && !private {
			wrong = append(wrong, fmt.Errorf("%s: has mode %v, must be its owner's alone", path, info.Mode()))
		}
		return nil
	})
	return errors.Join(append(wrong, err)...)
}

// left are names of files and folders that a finished run must not leave.
func left(name string) bool {
	return strings.Contains(name, ".tmp") || strings.HasPrefix(name, ".weir-") || name == "scratch"
}

// public files are the input, the ledger, which may be committed, and what is released.
func public(path string) bool {
	name := filepath.Base(path)
	return name == "spec.yaml" || name == "data.csv" || name == ".gitignore" || strings.HasSuffix(name, ".weir-ledger.jsonl") ||
		filepath.Base(filepath.Dir(path)) == "release"
}
