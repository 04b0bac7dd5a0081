package store

import (
	"cmp"
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
)

// Paid says which run charges a recipe, and where what it makes is stored. It is written
// before the charge is: that the charge was made is for the ledger to say.
type Paid struct {
	Run      string    `json:"run"`
	At       time.Time `json:"at"`
	Name     string    `json:"name"` // of its spec: the run lies in OUT/NAME/RUN
	Stage    string    `json:"stage"`
	Key      string    `json:"noise_key_sha256"` // commitment of the key that its noise is drawn with
	Address  string    `json:"address"`          // of its outputs; it holds what the rows are, so it stays on the owner's side
	Build    string    `json:"build,omitempty"`  // of the program: another may compute other values from the same noise
	Insecure bool      `json:"not_private,omitempty"`
}

func (c Cache) paidFolder(recipe string) string {
	return filepath.Join(c.Dir, "paid", strings.TrimPrefix(recipe, "sha256:"))
}

// NotePaid keeps that a run charges a recipe.
func (c Cache) NotePaid(recipe string, p Paid) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return c.Disk.WriteBytes(filepath.Join(c.paidFolder(recipe), p.Run+".json"), 0o600, data)
}

// Paid lists the runs that charged a recipe, or were about to, the newest first. A note that
// cannot be read is none: what is lost is only that it could have been used again.
func (c Cache) Paid(recipe string) []Paid {
	notes, err := os.ReadDir(c.paidFolder(recipe))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []Paid
	for _, note := range notes {
		var p Paid
		data, err := disk.ReadFile(filepath.Join(c.paidFolder(recipe), note.Name()), mostOfRecord)
		if err == nil && json.Unmarshal(data, &p) == nil && p.Run+".json" == note.Name() && filepath.IsLocal(filepath.Join(p.Name, p.Run)) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Paid) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Run, a.Run)) })
	return list
}

// LockPaid keeps other processes from charging a recipe, or waiting for its outcome, at the
// same time.
func (c Cache) LockPaid(recipe string) (unlock func() error, err error) {
	if err := c.Disk.MkdirAll(c.paidFolder(recipe), 0o700); err != nil {
		return nil, err
	}
	return c.Disk.Lock(filepath.Join(c.paidFolder(recipe), "charge"))
}

// Holds reports whether outputs of these names are stored under an address, without reading
// them: whether they are whole, Load finds.
func (c Cache) Holds(address string) bool {
	_, err := os.Stat(filepath.Join(c.folder(address), "manifest.json"))
	return err == nil
}

// Folders lists what is weir's in the folder of the cache, which may be one of the user's of
// the same name: outputs by their addresses, and the notes of what is paid for.
func (c Cache) Folders() (paths []string, err error) {
	all, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range all {
		if f.IsDir() && (f.Name() == "paid" || regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(f.Name())) {
			paths = append(paths, filepath.Join(c.Dir, f.Name()))
		}
	}
	return paths, err
}
