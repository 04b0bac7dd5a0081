package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/privacy/noise"
)

// JoinedSuffix ends the name of a ledger whose charges another one has taken over.
const JoinedSuffix = ".joined"

// transfer moves the charges of a dataset into the ledger of another.
type transfer struct {
	disk  disk.Disk
	done  *Continued
	home  string // of the other's ledger, if it has none yet
	clock func() time.Time
}

// charges appends the charges of the former dataset to rec's ledger.
func (t transfer) charges(rec *record, source *owner) (err error) {
	if source.Ledger == "" {
		return nil
	}
	if rec.Ledger == "" {
		rec.Ledger = t.home
	}
	if filepath.Clean(source.Ledger) == filepath.Clean(rec.Ledger) {
		return Refusal{fmt.Errorf("%s: is named as the ledger of %s and of %s, must be of one", rec.Ledger, rec.ID,
			source.ID)}
	}
	if _, err := ledger.Open(t.disk, source.Ledger, source.ID, t.clock); err != nil { // mends what a crash left
		return err
	}
	unlock, err := lock(t.disk, source.Ledger) // against a run that is charging it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	entries, path, err := chargesAt(source.Ledger, source.ID)
	if err != nil {
		return err
	}
	if err := whole(path, entries, source); err != nil || len(entries) == 0 {
		return err
	}
	return t.append(rec, entries)
}

func (t transfer) append(rec *record, entries []ledger.Entry) error {
	if err := t.disk.MkdirAll(filepath.Dir(rec.Ledger), 0o755); err != nil {
		return err
	}
	l, err := ledger.Open(t.disk, rec.Ledger, rec.ID, t.clock)
	if err != nil {
		return err
	}
	if err := whole(rec.Ledger, l.Entries(), &rec.owner); err != nil {
		return err
	}
	if _, err := l.Join(entries); err != nil {
		return fmt.Errorf("%s: %w", rec.Ledger, err)
	}
	rec.note(rec.Ledger, l.Head())
	t.done.Ledger, t.done.Charges = rec.Ledger, len(entries)
	return nil
}

// whole refuses a ledger that lacks charges: to join the rest would forget them.
func whole(path string, entries []ledger.Entry, holder *owner) error {
	if err := ledger.Includes(entries, holder.head()); err != nil {
		return Refusal{fmt.Errorf("%s: must hold all charges of %s: %w; bring it back from the owner's copy: weir ledger "+
			"restore %s; or restore it from version control or a backup", path, holder.ID, err, quoted(path))}
	}
	return nil
}

// setAside renames the former ledger, so that nothing is charged to it any more. It
// is never removed: released runs name its lines.
func (done *Continued) setAside(d disk.Disk, source *owner) error {
	if source == nil || done.Charges == 0 {
		return nil
	}
	done.Former = joinedPath(source.Ledger, source.ID)
	if _, err := os.Lstat(source.Ledger); errors.Is(err, fs.ErrNotExist) {
		return nil // by the Continue that was interrupted
	}
	return d.Rename(source.Ledger, done.Former)
}

// joinedPath returns where the ledger of id is set aside. A place that another one has
// taken is not written over.
func joinedPath(path, id string) string {
	entries, err := readLedger(path + JoinedSuffix)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) > 0 && entries[0].Dataset == id {
		return path + JoinedSuffix
	}
	return path + JoinedSuffix + "." + id
}

// chargesAt reads a ledger, or where an interrupted Continue of id has set it aside.
func chargesAt(path, id string) ([]ledger.Entry, string, error) {
	entries, err := readLedger(path)
	if errors.Is(err, fs.ErrNotExist) && id != "" {
		path = joinedPath(path, id)
		entries, err = readLedger(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	return entries, path, err
}

func readLedger(path string) ([]ledger.Entry, error) {
	data, err := disk.ReadFile(path, 0)
	if err != nil {
		return nil, err
	}
	entries, err := ledger.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return entries, nil
}

func headOf(entries []ledger.Entry) ledger.Head {
	return ledger.Head{Count: len(entries), Hash: entries[len(entries)-1].Hash}
}

// ledgerHome returns where a run would put the ledger of a dataset without one.
func ledgerHome(d disk.Disk, out, path, id string) string {
	if d.Writable(filepath.Dir(path)) {
		return LedgerName(path)
	}
	return filepath.Join(out, "ledgers", id+LedgerSuffix)
}

// keyed tells an owner file from what a ledger alone says.
func (o *owner) keyed() bool { return o.Key.Key != noise.Key{} }
