package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"weir/internal/disk"
)

// Head is what the record of a run states of its ledger, as its charges left it.
type Head struct {
	Record  string `json:"-"` // the run.json that states it
	Dataset string `json:"id"`
	Ledger  string `json:"ledger"`
	Count   int    `json:"ledger_count"`
	Hash    string `json:"ledger_head"`

	Charges []string `json:"-"` // ids of those of the run itself
	Key     string   `json:"-"` // commitment of its noise key
}

// Heads are those of all runs under out that name a dataset. A record that is no record
// states none; it is not for a run on this dataset to judge.
func Heads(out, dataset string) ([]Head, error) {
	var heads []Head
	names, err := folders(out)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		runs, err := folders(name)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			h, err := ReadHead(filepath.Join(run, "run.json"))
			if err == nil && h.Dataset == dataset && h.Count > 0 {
				heads = append(heads, h)
			}
		}
	}
	return heads, nil
}

// folders lists the folders in a folder; an absent one holds none.
func folders(in string) ([]string, error) {
	entries, err := os.ReadDir(in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []string
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, filepath.Join(in, e.Name()))
		}
	}
	return list, err
}

// ReadHead reads the head that a run.json states.
func ReadHead(file string) (Head, error) {
	data, err := disk.ReadFile(file, 0)
	if err != nil {
		return Head{}, err
	}
	var r struct {
		Dataset Head   `json:"dataset"`
		Key     string `json:"noise_key_sha256"`
		Charges []struct {
			ID string `json:"id"`
		} `json:"charges"`
	}
	if json.Unmarshal(data, &r) != nil {
		return Head{}, fmt.Errorf("%s: is not the record of a run", file)
	}
	r.Dataset.Record, r.Dataset.Key = file, r.Key
	for _, c := range r.Charges {
		r.Dataset.Charges = append(r.Dataset.Charges, c.ID)
	}
	return r.Dataset, nil
}
