package dataset

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"weir/internal/disk"
	"weir/privacy/ledger"
)

// KeptSuffix ends the name of the copy that the owner of a dataset keeps of its ledger, beside
// the owner file: the pattern *.weir-owner.json* covers both.
const KeptSuffix = OwnerSuffix + "l"

// keptPath returns where the copy lies, by where the owner file does.
func keptPath(owner string) string { return owner + "l" }

// keeper holds the copies of an Identity's ledger open, so that a charge reads no line again.
type keeper struct {
	once, home   sync.Once
	copy, beside *ledger.Copy // beside the owner file, and beside the ledger where that lies elsewhere
}

func (id *Identity) ownerCopy() *ledger.Copy {
	id.keeper.once.Do(func() { id.keeper.copy = ledger.NewCopy(id.place.disk, keptPath(id.place.owner), id.ID) })
	return id.keeper.copy
}

// Kept reads the copy of the ledger. It is asked before the ledger is read, as another run may
// charge in between.
func (id *Identity) Kept() ([]ledger.Entry, error) {
	kept, err := id.ownerCopy().Entries()
	return kept, id.keptFault(err)
}

// CheckKept refuses a ledger that lacks charges of the copy: it was deleted, cut, or is
// another one. The copy may hold one charge more than the noted head, where a crash came
// between the two.
func (id *Identity) CheckKept(entries, kept []ledger.Entry) error {
	if lost := ledger.Lacking(entries, kept); len(lost) > 0 {
		return id.refuseLedger(fmt.Errorf("ledger: has %d charges: %w: %d of those in %s",
			len(entries), ledger.ErrLacking, len(lost), keptPath(id.place.owner)))
	}
	return nil
}

// KeptCopy is the copy of a ledger that lies beside it, as it was read.
type KeptCopy struct {
	path    string
	entries []ledger.Entry
}

// CopyBeside reads the copy that the owner keeps beside a ledger, or beside the table that it is of. There may be none.
func CopyBeside(path string) (KeptCopy, error) {
	home := homeOf(path)
	if IsTable(path) {
		home = OwnerName(path)
	}
	k := KeptCopy{path: keptPath(home)}
	if !exists(k.path) {
		return k, nil
	}
	entries, err := readLedger(k.path)
	k.entries = entries
	return k, LedgerFault(k.path, err)
}

// Check reports whether there is a copy, and refuses a ledger that lacks charges of it.
func (k KeptCopy) Check(entries []ledger.Entry) (there bool, err error) {
	if lost := ledger.Lacking(entries, k.entries); len(lost) > 0 {
		err = fmt.Errorf("the ledger has %d charges and lacks %d of those in %s, the copy that its owner keeps",
			len(entries), len(lost), k.path)
	}
	return len(k.entries) > 0, err
}

// keptFault says what to do about a copy that cannot be read or written.
func (id *Identity) keptFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ledger.ErrLacking):
		return id.refuseLedger(err)
	case errors.Is(err, ledger.ErrOtherDataset):
		return Refusal{fmt.Errorf("%w; move it away to start another budget knowingly, "+
			"or bring the owner file of its dataset back from a backup", err)}
	case errors.Is(err, ledger.ErrTampered):
		return fmt.Errorf("the owner's copy of the ledger: %w; restore it from a backup, or, where the ledger is whole, "+
			"move it away: the next run copies the lines of the ledger again", err)
	}
	return fmt.Errorf("the owner's copy of the ledger: %w", err)
}

// refuseLedger says what to do about a ledger that lacks charges.
func (id *Identity) refuseLedger(lacks error) error {
	files := []string{id.place.owner, keptPath(id.place.owner)}
	if home := (&owner{Ledger: id.Ledger}).home(id.place.owner); exists(home) {
		files = append(files, home, keptPath(home))
	}
	return Refusal{fmt.Errorf("the ledger of %s must hold the charges that were made: %w; %s; "+
		"or restore %s from version control or a backup, or join it with the ledger of the branch that has them (weir "+
		"ledger merge), "+
		"or, to start another budget knowingly, remove %s and %s",
		id.ID, lacks, id.HowToRestore(), id.Ledger, strings.Join(files, ", "),
		(&index{dir: indexDir(id.out)}).recordPath(id.ID))}
}

// HowToRestore names the command that writes the ledger again from the owner's copy.
func (id *Identity) HowToRestore() string { return howToRestore(id.Path, id.out) }

func howToRestore(path, out string) string {
	return "bring it back from the owner's copy: weir ledger restore " + quoted(path) + outFlag(out)
}

// keepAt gives places that belong to a dataset from now on the copy of its ledger. The copy of
// another dataset, whose charges the ledger has taken over, is set aside under its id.
func keepAt(d disk.Disk, id string, entries []ledger.Entry, places ...spot) error {
	for _, s := range places {
		c := ledger.NewCopy(d, keptPath(s.Owner), id)
		if _, err := c.Entries(); errors.Is(err, ledger.ErrOtherDataset) {
			if err := setCopyAside(d, keptPath(s.Owner)); err != nil {
				return err
			}
		}
		if err := c.Follow(entries); err != nil {
			return Refusal{fmt.Errorf("the owner's copy of the ledger of %s: %w; "+
				"weir ledger restore brings charges back that the ledger lacks", id, err)}
		}
	}
	return nil
}

func setCopyAside(d disk.Disk, path string) error {
	entries, err := readLedger(path)
	if len(entries) == 0 {
		return err
	}
	return d.Rename(path, path+JoinedSuffix+"."+entries[0].Dataset)
}
