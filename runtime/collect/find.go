// Package collect finds what of a folder of runs has served its purpose, and removes it:
// cached outputs and unfinished runs by age, and releases where that is asked for. It
// touches no ledger, no owner file, no index of datasets and no key of a run that stays.
// docs/design/gc.md says what each removal costs and why it can stop half-way.
package collect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weir/internal/disk"
	"weir/runtime/store"
)

// Rules say what is looked for.
type Rules struct {
	Disk    disk.Disk
	Out     string    // folder of runs
	Before  time.Time // what was used since stays
	Release bool      // releases of finished runs too
	Paid    bool      // also what would be charged anew
	Build   string    // of this program: another one cannot make a release again
}

// What an Item is.
const (
	Cached  = "cached output"
	Paid    = "cached output that was paid"
	Run     = "unfinished run"
	Release = "release"
)

// Item is something that can be removed.
type Item struct {
	Path  string    `json:"path"`
	What  string    `json:"what"`
	Bytes int64     `json:"bytes"`
	Used  time.Time `json:"used"`           // for the last time
	Costs bool      `json:"costs"`          // to have it again is a new charge
	Kept  string    `json:"kept,omitempty"` // why it stays nevertheless

	name string // of the spec; "" for what all share
}

// Found is all that is old enough, with what of it stays.
type Found struct {
	Items []Item
	Names []string // of specs that have runs or a cache
	rules Rules
}

// Find looks through a folder of runs, follows no link and changes nothing.
func Find(r Rules) (*Found, error) {
	names, err := store.Names(r.Out)
	if err != nil {
		return nil, err
	}
	f := &Found{rules: r}
	working, ledgers := "", ledgers{}
	for _, name := range names {
		path, err := f.ofSpec(name, ledgers)
		if err != nil {
			return nil, err
		}
		if path != "" {
			working = path
		}
	}
	return f, f.cache(filepath.Join(r.Out, "cache"), "", working)
}

// ofSpec looks through the folder of one spec, and names a run that is at work.
func (f *Found) ofSpec(name string, known ledgers) (working string, err error) {
	base := filepath.Join(f.rules.Out, name)
	runs, err := store.Entries(base)
	if err != nil {
		return "", err
	}
	for _, path := range runs {
		if store.Held(f.rules.Disk, path) {
			working = path
		}
	}
	for _, path := range runs {
		f.run(path, name, known)
	}
	before := len(f.Items)
	err = f.cache(filepath.Join(base, "cache"), name, working)
	if len(runs) > 0 || len(f.Items) > before {
		f.Names = append(f.Names, name)
	}
	return working, err
}

// add lists what is old enough.
func (f *Found) add(i Item) {
	if i.Used.After(f.rules.Before) {
		return
	}
	if i.Costs && !f.rules.Paid && i.Kept == "" {
		i.Kept = "to have it again is a new charge; --paid removes it"
	}
	i.Bytes = store.Size(i.Path)
	f.Items = append(f.Items, i)
}

// Removable returns the items that do not stay.
func (f *Found) Removable() []Item {
	return slices.DeleteFunc(slices.Clone(f.Items), func(i Item) bool { return i.Kept != "" })
}

// Bytes returns what the removal of items frees.
func Bytes(items []Item) (sum int64) {
	for _, i := range items {
		sum += i.Bytes
	}
	return sum
}

// folder reports whether a path is a folder and no link to one.
func folder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// lastUsed returns the latest change of a folder and of what lies in it.
func lastUsed(path string) (place time.Time) {
	filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(place) {
			place = info.ModTime()
		}
		return nil
	})
	return place
}

// gone passes on errors but that something is not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
