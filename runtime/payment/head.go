package payment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
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
// an experiment all look at each other's. It remembers for all of them, too, which ledger the owner's side named before
// it was gone, which only the first to open the book is told. Nil remembers nothing.
type Seen struct {
	heads  sync.Map // of seen, by file
	former sync.Map // ledgers that are gone, by the ledger that took their place
}

// formerOf returns the ledger that was charged before the one at path and is gone, where this opening of the book or an
// earlier one was told so.
func (s *Seen) formerOf(path, before string) string {
	if s == nil {
		return before
	}
	if before != "" {
		s.former.Store(path, before)
	}
	known, _ := s.former.Load(path)
	before, _ = known.(string)
	return before
}

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

// Heads returns the heads of all runs under out that name a dataset. A record that is not a record
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

// StatedCharges returns the ids of the charges that the records of runs under out state of a dataset, by record.
func StatedCharges(out, dataset string) (map[string][]string, error) {
	heads, err := (*Seen)(nil).Heads(out, dataset)
	charges := map[string][]string{}
	for _, h := range heads {
		charges[h.Record] = h.Charges
	}
	return charges, err
}

// Found is the folder and the record of an earlier run.
type Found struct {
	Path   string
	Record *record.Run
}

// FindRuns lists the records of earlier runs of the same spec and data under
// base, newest first. The error says which records cannot be read; what they charged is
// in the ledger, but nobody can go on with them.
func FindRuns(base, specDigest, dataset, version string, known *Seen) (runs []Found, unread error) {
	paths, err := store.Runs(base)
	for _, path := range paths {
		h, err := known.Head(filepath.Join(path, "run.json"))
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		if h.Spec != specDigest || h.Dataset != dataset || h.Version != version {
			continue
		}
		r, err := store.ReadRecord(path)
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		runs = append(runs, Found{path, r})
	}
	sort.Slice(runs, func(i, j int) bool { return runs[i].Record.Started.After(runs[j].Record.Started) })
	return runs, errors.Join(err, unread)
}

// OwnCharges counts the charges that the run of a summary has made itself, as far as its record knows.
func OwnCharges(s store.Summary) (n int) {
	for _, c := range s.Charges {
		if c.Run == "" || c.Run == s.ID {
			n++
		}
	}
	return n
}

// CheckRecords holds the ledger at path, with its entries, against the head of every run whose record lies under the
// folder runs and that charged it. It returns how many there are, and an error for each that the ledger lacks charges
// of.
func CheckRecords(runs, path string, entries []ledger.Entry) (count int, missing []error, err error) {
	records, err := recordsUnder(runs)
	if err != nil {
		return 0, nil, err
	}
	for _, file := range records {
		h, err := ReadHead(file)
		if err != nil {
			return count, missing, err
		}
		if h.Count == 0 || !h.isOf(path, entries) {
			continue
		}
		count++
		if err := ledger.Includes(entries, ledger.Head{Count: h.Count, Hash: h.Hash}); err != nil {
			missing = append(missing, fmt.Errorf("%s: against %s: %w", path, file, err))
		}
	}
	return count, missing, nil
}

// isOf reports whether a run charged the ledger: by its dataset, or by its path,
// which is all there is to go by where every line was removed.
func (h Head) isOf(path string, entries []ledger.Entry) bool {
	if len(entries) > 0 && h.Dataset == entries[0].Dataset {
		return true
	}
	a, err := os.Stat(path)
	b, err2 := os.Stat(h.Ledger)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// recordsUnder lists the run.json under a folder, none where the folder is absent.
func recordsUnder(folder string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == folder:
			return fs.SkipAll
		case err != nil:
			return err
		case d.Name() == "run.json" && !d.IsDir():
			found = append(found, path)
		}
		return nil
	})
	return found, err
}
