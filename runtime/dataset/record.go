package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"weir/privacy/noise"
)

// record is what the index knows of one dataset: all that its owner file says,
// so that a lost one can be written again, and what tells its copies.
type record struct {
	owner
	Places []spot   `json:"places"`
	Macs   []string `json:"index_hmacs"` // of the digests of its contents, under the key of the index
	sketches
}

// sketches are of the rows of all contents of a dataset: of those that were read, and of those that stayed in a
// database, which are hashed without a key and otherwise. Neither can be compared with the other.
type sketches struct {
	Rows    sketch `json:"sketch"`
	Counted sketch `json:"-"`
	// Counted as the index stores it, sealed by its key
	Sealed string `json:"sketch_in_database,omitempty"`
}

// spot is a file of the dataset and its owner file.
type spot struct {
	Path  string `json:"path"`
	Owner string `json:"owner"`
}

const recordCure = "restore it from a backup; or remove it, then copies of the dataset are not known until a run has " +
	"read it again"

func (r *record) valid() error {
	return cmp.Or(r.Rows.valid(), r.owner.valid())
}

// name returns how the owner is told of the dataset.
func (r *record) name() string {
	if len(r.Places) == 0 {
		return r.ID
	}
	return r.ID + " (" + r.Places[len(r.Places)-1].Path + ")"
}

// addPlace keeps where the dataset lies; the last place is the latest.
func (r *record) addPlace(p place) {
	r.Places = slices.DeleteFunc(r.Places, func(s spot) bool { return s.Path == p.path })
	r.Places = append(r.Places, spot{p.path, p.owner})
}

func (r *record) lies(path string) bool {
	return slices.ContainsFunc(r.Places, func(s spot) bool { return s.Path == path })
}

// addContent keeps a content and its rows.
func (r *record) addContent(mac string, rows sketches) {
	if !slices.Contains(r.Macs, mac) {
		r.Macs = append(r.Macs, mac)
	}
	r.Rows, r.Counted = union(r.Rows, rows.Rows), union(r.Counted, rows.Counted)
}

func (x *index) read(id string) (*record, error) {
	r := &record{}
	found, err := readPrivate(x.recordPath(id), r, recordCure)
	if err == nil && (!found || r.ID != id) {
		err = fmt.Errorf("%s: is of another dataset than its name says, must be of %s", x.recordPath(id), id)
	}
	if err != nil || r.Sealed == "" || x.key == (noise.Key{}) { // a key that was lost is told of all records at once
		return r, err
	}
	if r.Counted, err = unseal(x.key, r.Sealed); err != nil {
		err = fmt.Errorf("%s: %w: it %w, must be as weir wrote it: %s", x.recordPath(id), ErrDamaged, err, recordCure)
	}
	return r, err
}

func (x *index) save(r *record) (err error) {
	if r.Sealed, err = r.Counted.seal(x.key); err != nil {
		return err
	}
	return writePrivate(x.disk, x.recordPath(r.ID), r)
}

func (x *index) remove(r *record) error {
	x.records = slices.DeleteFunc(x.records, func(other *record) bool { return other == r })
	return x.disk.Remove(x.recordPath(r.ID))
}

func (x *index) find(is func(*record) bool) *record {
	if i := slices.IndexFunc(x.records, is); i >= 0 {
		return x.records[i]
	}
	return nil
}

func (x *index) byID(id string) *record {
	return x.find(func(r *record) bool { return r.ID == id })
}

// byTable finds the dataset of a table that lies in no file.
func (x *index) byTable(where string) *record {
	return x.find(func(r *record) bool { return slices.Contains(r.Tables, where) })
}

func (x *index) byContent(digest string) *record {
	mac := x.mac(digest)
	return x.find(func(r *record) bool { return slices.Contains(r.Macs, mac) })
}
