// Package dataset tells which dataset a file is: a random id that may be
// published, and on the owner's side the key by which content is matched, the
// ledger that belongs to it, and the datasets that share rows with it. It is
// what makes a budget follow the data through copies, links and edits. See
// docs/design/identity.md.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/privacy/ledger"
	"weir/privacy/noise"
	"weir/runtime/store"
)

const (
	// OwnerSuffix ends the name of the file that a dataset's owner keeps beside it.
	OwnerSuffix = ".weir-owner.json"
	// LedgerSuffix ends the name of a ledger.
	LedgerSuffix = ".weir-ledger.jsonl"
)

// Refusal is an error of privacy rather than of the machine: going on would give
// a dataset a second budget, or make a private table pass for a public one.
type Refusal struct{ Err error }

func (r Refusal) Error() string { return r.Err.Error() }
func (r Refusal) Unwrap() error { return r.Err }

// Opening is a file that a run is about to read.
type Opening struct {
	Disk      disk.Disk
	Out       string // folder of all runs; the index of datasets lies in it
	Path      string // of the file, or the pattern of several
	Version   string // as declared; "" is 1
	Ledger    string // where the run was asked to charge it; "" is beside the file
	Uncharged bool   // the run draws no noise: it has no ledger, and leaves the folder of the data alone
	Replay    bool   // an earlier run's noise is drawn again: nothing is charged, and nothing is written
	Locked    bool   // whoever opens compares the content with a weir.lock first, and asks Refused then
	Digest    string // of the content (pipeline.Opened)
	// of the files, where they are several: each is the dataset, wherever it turns up, but for one that is known as
	// another
	Parts []string
	// of a table that lies in no file (pipeline.Declared): under another name it is the same dataset
	Where string
	// of such a table, as its server says (pipeline.Server): by another connection it is the same dataset
	Place string
	Rows  pipeline.Table // read only where the index does not know the content
	// Hashes returns the least hashes of rows that are not read but stay in a database (pipeline.HashesRows); nil: Rows
	// are read.
	Hashes func(ctx context.Context, most int) ([]uint64, error)
	Clock  func() time.Time
	Random io.Reader // of the operating system
}

// Identity is which dataset a file is. Only ID and Version may leave the owner's
// side.
type Identity struct {
	ID, Version string
	// of the file, or the pattern of several, links resolved: a ledger beside it is found by every link to it
	Path     string
	Secret   noise.Key // of draws by the order of rows, such as shards; one for each content of each version
	Ledger   string    // where its charges were written before, or ""
	Notes    []string  // for the owner's terminal
	Overlaps []string  // other known datasets that share rows (W32)
	Joins    []string  // the commands that give them one ledger

	content string
	key     noise.Key
	seen    time.Time // the content, first
	locked  []string  // contents that a lock of this version means
	fresh   bool      // nothing was known of it before
	bound   bool      // by this run, or found so
	refused error     // of a content that may not be charged under the version
	head    ledger.Head
	place   place
	out     string
	keeper  keeper // of the copy of its ledger
}

// Content tells the contents of one dataset apart. It is for the owner's side:
// names in the cache, and what an interrupted run had read.
func (id *Identity) Content() string { return id.content }

// Refused tells why the content may not be charged under the declared version; nil: it may.
func (id *Identity) Refused() error { return id.refused }

// Identify finds the dataset of a file by the owner file of its path, else by its
// content, else by a ledger beside it, and else makes a new one.
func Identify(ctx context.Context, o Opening) (*Identity, error) {
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return nil, err
	}
	o.Out = out
	if o.Version == "" {
		o.Version = "1"
	}
	if o.Replay {
		return recognise(o)
	}
	p, err := locate(o.Disk, o.Out, o.Path, o.Uncharged)
	if err != nil {
		return nil, err
	}
	id, key, err := identify(o, p, nil)
	if errors.Is(err, errUnread) {
		// Reading takes long, so it is done without the lock; another run may have
		// found the dataset meanwhile, and then has the word.
		rows, failed := sketchesOf(ctx, key, o)
		if failed != nil {
			return nil, failed
		}
		id, _, err = identify(o, p, &rows)
	}
	return id, err
}

// errUnread asks for the sketch of the rows.
var errUnread = errors.New("the rows have to be read")

// ErrUnknownData marks the data of a replay of which the owner's side knows nothing.
var ErrUnknownData = errors.New("is not a dataset that is known here")

// recognise finds the dataset of a file for a replay, from what the owner's side has. It takes no lock, since each file
// is replaced as a whole, and leaves no trace: whoever verifies a copy of a run has no side of their own.
func recognise(o Opening) (*Identity, error) {
	path, err := resolve(o.Path)
	if err != nil {
		return nil, err
	}
	x, err := readIndex(o.Out)
	if err != nil {
		return nil, err
	}
	f := finding{Opening: o, place: placeOf(o.Out, path), index: x}
	holder, err := f.match()
	if err != nil {
		return nil, err
	}
	if holder == nil {
		return nil, fmt.Errorf("%s: %w, must be one: restore its owner file %s from a backup, or verify the run in the "+
			"folder of runs that knows its data (%s does not)", path, ErrUnknownData, f.place.beside, o.Out)
	}
	rec, c, err := f.learn(holder, sketches{})
	if err != nil {
		return nil, err
	}
	return f.identity(rec, c), nil
}

func identify(o Opening, p place, rows *sketches) (id *Identity, key noise.Key, err error) {
	err = locked(o.Disk, o.Out, o.Random, func(x *index) (err error) {
		unlock, err := lock(o.Disk, p.owner)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		f := finding{Opening: o, place: p, index: x}
		key = x.key
		id, err = f.find(rows)
		return err
	})
	return id, key, err
}

// finding is one Identify under its locks.
type finding struct {
	Opening
	place place
	index *index
	notes []string
}

func (f *finding) tell(format string, args ...any) {
	f.notes = append(f.notes, f.place.path+": "+fmt.Sprintf(format, args...))
}

func (f *finding) find(rows *sketches) (*Identity, error) {
	holder, err := f.match()
	if err != nil {
		return nil, err
	}
	refused := f.refused(holder)
	if refused != nil && !f.Locked {
		return nil, refused
	}
	if holder == nil {
		if err := f.exposed(); err != nil {
			return nil, err
		}
	}
	if rows == nil {
		if f.index.byContent(f.Digest) == nil {
			return nil, errUnread
		}
		rows = &sketches{}
	}
	fresh := holder == nil
	if fresh {
		if holder, err = f.fresh(); err != nil {
			return nil, err
		}
	}
	id, err := f.keep(holder, *rows)
	if err == nil {
		id.fresh, id.refused = fresh, refused
	}
	return id, err
}

// refused tells why the content may not be charged under the declared version, before rows are read.
func (f *finding) refused(holder *owner) error {
	if holder == nil || f.Uncharged {
		return nil
	}
	rec, err := f.record(holder)
	if err == nil {
		err = rec.refuses(f.Version, macOf(rec.Key.Key, "content", f.Digest))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.place.path, err)
	}
	return nil
}

// fresh returns a dataset that nothing is known of.
func (f *finding) fresh() (*owner, error) {
	id, err := newID(f.Random)
	if err != nil {
		return nil, err
	}
	key, err := noise.NewKey(f.Random)
	f.tellFirst()
	return &owner{ID: id, Key: secret{key}}, err
}

func newID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("dataset: 16 random bytes for its id could not be read: %w", err)
	}
	return fmt.Sprintf("ds-%x", b), nil
}

// keep writes what is known now on the owner's side.
func (f *finding) keep(own *owner, rows sketches) (*Identity, error) {
	rec, c, err := f.learn(own, rows)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.index.save(rec), writePrivate(f.Disk, f.place.owner, rec.owner)); err != nil {
		return nil, err
	}
	id := f.identity(rec, c)
	if !f.Uncharged { // it refuses the first new charge
		id.Notes = append(id.Notes, trackedKeys(f.Out, rec.ID, f.owners()...)...)
	}
	return id, nil
}

// learn returns the record of a dataset with what this finding adds to it, and what it has of the content.
func (f *finding) learn(own *owner, rows sketches) (*record, *content, error) {
	rec, err := f.record(own)
	if err != nil {
		return nil, nil, err
	}
	mac := macOf(rec.Key.Key, "content", f.Digest)
	c, err := rec.sees(f.Version, mac, f.Clock(), func() (noise.Key, error) { return noise.NewKey(f.Random) })
	if err == nil && !f.Uncharged && !f.Replay && rec.forgot(f.Version, f.place) {
		f.tell("whether this is the table that version %s of %s was charged with cannot be told, since nothing on the "+
			"owner's side says it: if it is not, declare another dataset.version", f.Version, rec.ID)
		c.Seen = f.Clock().UTC().Round(0)
		c.Secret.Key, err = noise.NewKey(f.Random)
	}
	if err != nil {
		return nil, nil, err
	}
	rec.addContent(f.index.mac(f.Digest), rows)
	for _, part := range f.Parts {
		other := f.index.byContent(part)
		if other == nil { // else it is a dataset of its own, and shared rows are told
			rec.addContent(f.index.mac(part), sketches{})
		}
		if other == nil || other.ID == rec.ID {
			rec.hasPart(macOf(rec.Key.Key, "content", part)) // for another index
		}
	}
	rec.liesAt(f.Where)
	rec.liesAt(f.Place)
	rec.addPlace(f.place)
	return rec, c, nil
}

// identity says which dataset a record is of, and tells its owner what is to be known.
func (f *finding) identity(rec *record, c *content) *Identity {
	overlaps, joins := f.index.overlaps(rec), f.joins(rec)
	if rec.refuses(f.Version, c.HMAC) != nil {
		f.tellOther(&rec.owner, c.HMAC)
	}
	f.warn(overlaps, joins)
	return &Identity{ID: rec.ID, Version: f.Version, Path: f.place.path, Secret: c.Secret.Key, Ledger: rec.Ledger,
		Notes: f.notes, Overlaps: overlaps, Joins: joins, content: c.HMAC, key: rec.Key.Key, seen: c.Seen,
		locked: rec.locked(f.Version), head: rec.head(), place: f.place, out: f.Out}
}

// record returns the record of the dataset, with what the owner file knows.
func (f *finding) record(holder *owner) (*record, error) {
	rec := f.index.byID(holder.ID)
	if rec == nil {
		rec = &record{owner: *holder}
	}
	if rec.Key != holder.Key {
		return nil, twoKeys(known{f.place.owner, holder}, known{f.index.recordPath(holder.ID), &rec.owner})
	}
	return rec, errors.Join(rec.join(holder), rec.joinHome(f.place.owner, f.Ledger), rec.joinBeside(f.place))
}

// tellOther tells that the content is not the one of the declared version. A replay declares nothing: it needs the
// rows of its run's version.
func (f *finding) tellOther(holder *owner, mac string) {
	i := slices.IndexFunc(holder.Contents, func(c content) bool { return c.Charged && c.HMAC == mac })
	switch {
	case !f.Replay:
		f.tell("has other content than version %s of %s was charged with; declare another dataset.version, so that results "+
			"say what they come from", f.Version, holder.ID)
	case i >= 0:
		f.tell("is bound to version \"%s\" of %s, and the run was of version \"%s\"; the rows of that version must be here",
			holder.Contents[i].Version, holder.ID, f.Version)
	default:
		f.tell("has other content than version \"%s\" of %s, which the run was of; the rows of that version must be here",
			f.Version, holder.ID)
	}
}

func (f *finding) warn(overlaps, joins []string) {
	if len(overlaps) > 0 {
		f.tell("shares rows with %s and has a ledger of its own (W32); if the people are the same, give them one: %s",
			strings.Join(overlaps, ", "), strings.Join(joins, "; "))
	}
}

// Forget takes back what an Identify wrote of a dataset that nothing was known of, for a run
// that is refused before it begins. What is left would be a dataset that shares rows with
// others, and in their way, though nothing was ever charged to it.
func (id *Identity) Forget() error {
	if !id.fresh {
		return nil
	}
	return locked(id.place.disk, id.out, nil, func(x *index) (err error) {
		unlock, err := lock(x.disk, id.place.owner)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		rec := x.byID(id.ID)
		if rec == nil || rec.LedgerCount > 0 || len(rec.Places) > 1 {
			return nil // another run has charged it, or found a copy, meanwhile
		}
		return errors.Join(x.remove(rec), store.Reason(x.disk.Remove(id.place.owner)))
	})
}
