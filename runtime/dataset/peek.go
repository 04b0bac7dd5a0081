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
// under another path, only a run finds. The file may be absent, as where a ledger is committed
// and the data are not. Nothing is written.
func Peek(out, path, asked string) (*Identity, error) {
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
	own, err := p.load()
	if err != nil {
		return nil, err
	}
	if own == nil {
		if id, err := beside(p, p.path+LedgerSuffix); id != nil || err != nil || asked == "" {
			return id, err
		}
		return beside(p, asked)
	}
	if _, err := os.Stat(p.beside); err != nil {
		p.owner = p.aside
	}
	return &Identity{ID: own.ID, Path: path, Ledger: own.Ledger, head: own.head(), place: p, out: out}, nil
}

// beside is the dataset that the ledger at path names.
func beside(p place, path string) (*Identity, error) {
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
	return &Identity{ID: entries[len(entries)-1].Dataset, Path: p.path, Ledger: path, place: p}, nil
}
