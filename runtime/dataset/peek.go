package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"weir/internal/disk"
	"weir/privacy/ledger"
)

// Peek says which dataset the file at path is known as, by its owner file, the ledger beside it or
// the one that is asked for, without opening the file; nil where none is there. Content that is known
// under another path, only a run finds. Where the owner file is damaged
// (ErrDamaged), the ledger alone says it. The file may be absent, as where a ledger is committed
// and the data are not. Nothing is written.
func Peek(out, path, version string) (*Identity, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	real, err := resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		real, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	path = real
	p := placeOf(out, path)
	holder, damaged := p.load()
	if damaged != nil && !errors.Is(damaged, ErrDamaged) {
		return nil, damaged
	}
	if holder == nil {
		id, err := byLedgers(p, out, LedgerName(p.path), version)
		return id, errors.Join(damaged, err)
	}
	if _, err := os.Stat(p.beside); err != nil {
		p.owner = p.aside
	}
	return &Identity{ID: holder.ID, Path: path, Ledger: holder.Ledger, head: holder.head(), place: p, out: out}, nil
}

// byLedgers returns the dataset of the first ledger that is there.
func byLedgers(p place, out string, paths ...string) (*Identity, error) {
	for _, path := range paths {
		if id, err := peekBeside(p, out, path); id != nil || err != nil {
			return id, err
		}
	}
	return nil, nil
}

// peekBeside returns the dataset that the ledger at path names.
func peekBeside(p place, out, path string) (*Identity, error) {
	data, err := disk.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := ledger.Parse(data)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return &Identity{ID: entries[len(entries)-1].Dataset, Path: p.path, Ledger: path, place: p, out: out}, nil
}
