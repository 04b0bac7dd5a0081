package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"weir/internal/disk"
)

// Head is what the record of a run states of its ledger, as its charges left it, and what
// the run is of.
type Head struct {
	Record  string `json:"-"` // the run.json that states it
	Spec    string `json:"-"` // digest of its spec
	Dataset string `json:"id"`
	Version string `json:"version"`
	Ledger  string `json:"ledger"`
	Count   int    `json:"ledger_count"`
	Hash    string `json:"ledger_head"`

	Charges []string `json:"-"` // ids of the run's own charges
	Key     string   `json:"-"` // commitment of its noise key
}

// Seen remembers what records state for as long as their files are as they were: the runs of
// an experiment all look at each other's. Nil remembers nothing.
type Seen struct{ heads sync.Map } // of seen, by file

type seen struct {
	at   time.Time
	size int64
	head Head
}

// Head returns what ReadHead does.
func (s *Seen) Head(file string) (Head, error) {
	info, err := os.Lstat(file)
	if s == nil || err != nil {
		return ReadHead(file)
	}
	if known, ok := s.heads.Load(file); ok && known.(seen).at.Equal(info.ModTime()) && known.(seen).size == info.Size() {
		return known.(seen).head, nil
	}
	h, err := ReadHead(file)
	if err == nil {
		s.heads.Store(file, seen{info.ModTime(), info.Size(), h})
	}
	return h, err
}

// Heads returns the heads of all runs under out that name a dataset. A record that is no record
// states none; it is not for a run on this dataset to judge.
func (s *Seen) Heads(out, dataset string) ([]Head, error) {
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
			h, err := s.Head(filepath.Join(run, "run.json"))
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
		Spec    string `json:"spec_digest"`
		Charges []struct {
			ID string `json:"id"`
		} `json:"charges"`
	}
	if json.Unmarshal(data, &r) != nil {
		return Head{}, fmt.Errorf("%s: is not the record of a run", file)
	}
	r.Dataset.Record, r.Dataset.Key, r.Dataset.Spec = file, r.Key, r.Spec
	for _, c := range r.Charges {
		r.Dataset.Charges = append(r.Dataset.Charges, c.ID)
	}
	return r.Dataset, nil
}
