package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"weir/pipeline/words"
	"weir/record"
	"weir/runtime/store"
)

// runSide is a run with its figures and those of its repeats.
func runSide(dir string) (words.Side, error) {
	rec, err := readRun(dir)
	if err != nil {
		return words.Side{}, err
	}
	declared, err := declaredOf(rec)
	if err != nil {
		return words.Side{}, err
	}
	figures := &words.Figures{Cell: cell(rec), Values: rec.Metrics, Declared: declared}
	figures.Repeats, err = repeats(dir, rec)
	return words.Side{Name: dir, Kind: words.RunSide, Digest: rec.SpecDigest, Canonical: []byte(rec.Spec), Plan: rec.Plan, Figures: figures}, err
}

// cell is what runs have in common that differ by their noise alone.
func cell(rec *record.Run) string {
	return fmt.Sprintf("%s %s %s %v", rec.SpecDigest, rec.Dataset.ID, rec.Dataset.Version, rec.Insecure)
}

// repeats are the figures of all finished runs of a run's cell that lie beside it, its own
// among them. A record that cannot be read is no repeat.
func repeats(dir string, rec *record.Run) (all []map[string]float64, err error) {
	folders, err := store.Runs(filepath.Dir(filepath.Clean(dir)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, folder := range folders {
		if other, err := store.ReadRecord(folder); err == nil && cell(other) == cell(rec) && other.Status == record.Done {
			all = append(all, other.Metrics)
		}
	}
	return all, nil
}
