package main

import (
	"encoding/csv"
	"os"
	"path/filepath"

	"weir/pipeline/domain"
)

// The files that a spec of the soak names.
const (
	dataFile      = "data.csv"
	referenceFile = "reference.csv" // public
	extraFile     = "extra.csv"     // private, and no part of the dataset
	specFile      = "spec.yaml"
)

// lay writes the files of one of the two runs into an empty folder.
func (w *world) lay(dir, spec string, other bool) error {
	rows, extra := w.one, w.extra
	if other {
		rows, extra = w.other, w.otherExtra
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if w.laid != nil {
		rows = w.laid(rows, w.unit)
	}
	for name, table := range map[string][][]string{dataFile: rows, referenceFile: w.reference, extraFile: extra} {
		if err := writeCSV(filepath.Join(dir, name), w.columns, table); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, specFile), []byte(spec), 0o644)
}

func writeCSV(path string, columns []domain.Column, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	w.UseCRLF = filepath.Base(path) == referenceFile // else a public file may be one of the two tables, byte for byte (W13)
	if err := w.WriteAll(append([][]string{names(columns)}, rows...)); err != nil {
		return err
	}
	return f.Close()
}
