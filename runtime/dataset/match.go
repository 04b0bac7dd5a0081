package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/privacy/noise"
)

// match says which known dataset the file is; nil is none.
func (f *finding) match() (*owner, error) {
	byPath, err := f.place.load()
	if err != nil {
		return nil, err
	}
	byContent := f.index.byContent(f.Digest)
	switch {
	case byPath != nil && byContent != nil && byPath.ID != byContent.ID:
		return nil, Refusal{fmt.Errorf("%s: has the owner file of %s and the content of %s, must be of one dataset: remove "+
			"%s to charge it to the ledger of the latter",
			f.place.path, byPath.ID, byContent.name(), f.place.owner)}
	case byPath != nil:
		return byPath, nil
	case byContent != nil:
		f.tellContent(byContent)
		return &byContent.owner, nil
	}
	for _, where := range []string{f.Where, f.Place} {
		if byTable := f.index.byTable(where); byTable != nil {
			f.tell("is the table of %s; it shares that dataset's ledger", byTable.name())
			return &byTable.owner, nil
		}
	}
	if own, err := f.neighbour(); own != nil || err != nil {
		return own, err
	}
	return f.byLedger()
}

func (f *finding) tellContent(r *record) {
	if f.Replay {
		f.tell("is %s by its content", r.name())
		return
	}
	if r.lies(f.place.path) {
		f.tell("has lost its owner file; by its content it is %s, and %s is written again", r.ID, f.place.owner)
		return
	}
	f.tell("is %s; it shares that dataset's ledger", r.name())
}

// neighbour finds a file of the same content in the same folder, or the same table of a server, which another folder of
// runs may know.
func (f *finding) neighbour() (*owner, error) {
	holder, path, err := ownerOf(filepath.Dir(f.place.path), func(o *owner) bool {
		return o.known(macOf(o.Key.Key, "content", f.Digest)) || slices.Contains(o.Tables, f.Where) ||
			slices.Contains(o.Tables, f.Place)
	})
	if holder != nil {
		f.tell("is %s (%s); it shares that dataset's ledger", holder.ID, strings.TrimSuffix(path, OwnerSuffix))
	}
	return holder, err
}

// ownerOf returns the first owner file of a folder that fits, and its path; nil where none does.
func ownerOf(dir string, fits func(*owner) bool) (*owner, string, error) {
	files, err := ownersIn(dir)
	if err != nil {
		return nil, "", err
	}
	for _, path := range files {
		holder := &owner{}
		if _, err := readPrivate(path, holder, ownerCure); err != nil {
			return nil, "", err
		}
		if fits(holder) {
			return holder, path, nil
		}
	}
	return nil, "", nil
}

// ownersIn lists the owner files in a folder.
func ownersIn(dir string) (paths []string, err error) {
	files, err := os.ReadDir(dir)
	for _, file := range files {
		if strings.HasSuffix(file.Name(), OwnerSuffix) {
			paths = append(paths, filepath.Join(dir, file.Name()))
		}
	}
	return paths, err
}

// byLedger takes the id of a ledger beside the file, such as one that was committed, or else of the
// one that the run is asked to charge, whose owner file, beside it, is taken over where it is there:
// its charges were made on this dataset, by whom and where ever. Where the ledger is lost, its owner's
// copy says as much, and has it restored before a charge.
func (f *finding) byLedger() (*owner, error) {
	own, err := f.ofLedger(LedgerName(f.place.path), f.place.beside)
	if own != nil || err != nil || f.Ledger == "" {
		return own, err
	}
	home := &owner{}
	if found, err := readPrivate(homeOf(f.Ledger), home, ownerCure); err != nil {
		return nil, err
	} else if found {
		f.tell("has no owner file, and is %s by the owner file beside the ledger %s, which it is charged to", home.ID,
			f.Ledger)
		return home, nil
	}
	return f.ofLedger(f.Ledger, homeOf(f.Ledger))
}

// ofLedger takes the id of the ledger at path, or of the copy beside its owner file.
func (f *finding) ofLedger(path, owner string) (*owner, error) {
	data, err := disk.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = disk.ReadFile(keptPath(owner), 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := ledger.Parse(data)
	if len(entries) == 0 {
		return nil, err // of an empty ledger nil
	}
	last := entries[len(entries)-1]
	if last.Origin != nil {
		last.Hash = last.Origin.Hash // which merges do not change
	}
	if !validID(last.Dataset) {
		return nil, fmt.Errorf("%s: is of a dataset without a random id, must be of ds- and 32 hex digits; move it away to "+
			"start another ledger knowingly", path)
	}
	return f.adopt(last.Dataset, path, ledger.Head{Count: len(entries), Hash: last.Hash})
}

func (f *finding) adopt(id, path string, head ledger.Head) (*owner, error) {
	if known := f.index.byID(id); known != nil {
		f.tell("has no owner file, and is %s by its ledger %s", id, path)
		return &known.owner, nil
	}
	if f.Replay {
		return nil, nil // its key is lost, and with it which content is which
	}
	f.tell("has no owner file, and is %s by its ledger %s; %s gets a new key. If the owner file was lost, restore it "+
		"from a backup before the next run, or run once with the folder of runs that knows the dataset (--out): under two "+
		"keys splits and shards fall otherwise",
		id, path, f.place.owner)
	key, err := noise.NewKey(f.Random)
	own := &owner{ID: id, Key: secret{key}}
	own.note(path, head)
	return own, err
}

// known is a file of the owner's side and what it says.
type known struct {
	path string
	*owner
}

// twoKeys refuses two files that give one dataset two keys, which happens where an
// owner file was lost and another folder of runs (--out) made a new one. Secret draws
// go by the key, so the older one is the dataset's.
func twoKeys(a, b known) error {
	older, newer, why := a, b, ""
	switch c := a.first().Compare(b.first()); {
	case c > 0:
		older, newer = b, a
	case c == 0:
		why = ", as far as can be told"
	}
	return Refusal{fmt.Errorf("%s: has another key for %s than %s, must have the same; the older one%s is in %s (%s), "+
		"the newer in %s (%s): "+
		"move %s away, and the next run writes it again with the older key. Both keys count the same ledger, so no charge "+
		"is lost; splits and shards made with the newer key fall otherwise",
		newer.path, a.ID, older.path, why, older.path, older.history(), newer.path, newer.history(), newer.path)}
}

func (o *owner) history() string {
	if len(o.Contents) == 0 {
		return fmt.Sprintf("never read, %d charges noted", o.LedgerCount)
	}
	return fmt.Sprintf("first seen %s, %d charges noted", o.first().Format("2006-01-02 15:04:05"), o.LedgerCount)
}

// orphans returns ledgers beside the file whose own files and owner files are gone, as a
// renamed table leaves them: one of them may be this dataset's.
func (f *finding) orphans() (names []string) {
	dir := filepath.Dir(f.place.path)
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, file := range files {
		name, is := strings.CutSuffix(file.Name(), LedgerSuffix)
		if !is || strings.HasSuffix(name, ".NOT-PRIVATE") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name+OwnerSuffix)); err != nil {
			names = append(names, file.Name())
		}
	}
	return names
}

// tellOrphans says which ledger a new dataset may have forgotten.
func (f *finding) tellOrphans() {
	for _, name := range f.orphans() {
		path := filepath.Join(filepath.Dir(f.place.path), name)
		f.tell("gets a new key, and %s lies in the same folder without its owner file; if that is the ledger of these "+
			"rows: weir ledger continue %s %s --out %s",
			name, quoted(path), quoted(f.place.path), quoted(f.Out))
	}
}
