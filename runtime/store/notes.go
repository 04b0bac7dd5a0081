package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"weir/internal/disk"
)

// Notes is what its owner has written about a run. It stays in internal/: people write down what they saw.
type Notes struct {
	Note string   `json:"note,omitempty"`
	Tags []string `json:"tags,omitempty"`
}

// notesFile is the file of notes in the internal folder of a run.
const notesFile = "notes.json"

// mostOfNotes is far above what a person writes.
const mostOfNotes = 1 << 20

// ReadNotes reads the notes on the run in dir; none where there are none.
func ReadNotes(dir string) (n Notes, err error) {
	path := filepath.Join(RunDir{Path: dir}.Internal(), notesFile)
	data, err := disk.ReadFile(path, mostOfNotes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n, nil
	case err != nil:
		return n, Reason(err)
	case json.Unmarshal(data, &n) != nil:
		return Notes{}, fmt.Errorf("%s: holds no notes, must be what weir runs note writes", path)
	}
	return n, nil
}

// ChangeNotes changes the notes on the run, one writer at a time.
func (d RunDir) ChangeNotes(change func(*Notes)) (err error) {
	unlock, err := d.Disk.Lock(filepath.Join(d.Internal(), notesFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	n, err := ReadNotes(d.Path)
	if err != nil {
		return err
	}
	change(&n)
	return d.KeepJSON(notesFile, n)
}
