// Package collect finds what of a folder of runs has served its purpose, and removes it:
// cached outputs and unfinished runs by age, and releases where that is asked for. It
// touches no ledger, no owner file, no index of datasets and no key of a run that stays.
// docs/design/gc.md says what each removal costs and why it can stop half-way.
package collect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"weir/internal/disk"
	"weir/runtime/payment"
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

// cache looks through a cache: the cache of all runs, or the cache of one spec, as earlier versions
// made them. What a run that is at work may read stays.
func (f *Found) cache(dir, name, working string) error {
	if !folder(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return gone(err)
	}
	notes := notesIn(filepath.Join(dir, store.PaidDir))
	for _, e := range entries {
		if !e.IsDir() || !isAddress(e.Name()) {
			continue
		}
		i := Item{Path: filepath.Join(dir, e.Name()), What: Cached, name: name}
		if of := notes[e.Name()]; of != nil {
			i.What, i.Costs = Paid, !slices.ContainsFunc(of, f.keyed)
			if !f.rules.Paid {
				i.Kept = "runs of this dataset use it again at no charge; --paid removes it"
			}
		}
		if working != "" {
			i.Kept = "a process works on " + working + ", which may read it"
		}
		i.Used = lastUsed(i.Path)
		f.add(i)
	}
	return nil
}

// isAddress reports whether a name is the name of a cached output.
func isAddress(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// mostOfNote is far above what a note of the index of paid outputs takes.
const mostOfNote = 1 << 20

// notesIn lists, by address, what the index of paid outputs notes. A note that cannot be read
// may still name an output. The notes stay: with them and the key of its run an output is made
// again at no charge, and without it they lead nowhere.
func notesIn(dir string) map[string][]payment.Note {
	items := map[string][]payment.Note{}
	if !folder(dir) {
		return items
	}
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		data, _ := disk.ReadFile(path, mostOfNote)
		var p payment.Note
		if json.Unmarshal(data, &p) != nil {
			p = payment.Note{}
		}
		if p.Insecure {
			return nil // a test: its charge is nobody's
		}
		for _, address := range regexp.MustCompile(`[0-9a-f]{64}`).FindAllString(string(data), -1) {
			items[address] = append(items[address], p)
		}
		return nil
	})
	return items
}

// keyed reports whether this build can make again what a run paid for, from the key in its
// folder.
func (f *Found) keyed(p payment.Note) bool {
	run := filepath.Join(p.Name, p.Run)
	if f.rules.Build == "" || p.Build != f.rules.Build || !filepath.IsLocal(run) {
		return false
	}
	return hasKey(filepath.Join(f.rules.Out, run))
}

func hasKey(run string) bool {
	info, err := os.Lstat(filepath.Join(run, "internal", "noise.key"))
	return err == nil && info.Mode().IsRegular()
}
