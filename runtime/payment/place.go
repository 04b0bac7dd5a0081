package payment

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// TestLedgerSuffix ends the name of a ledger of runs with a test seed.
const TestLedgerSuffix = marked + dataset.LedgerSuffix

// marked ends what is not a release of private data.
const marked = ".NOT-PRIVATE"

// Place says where the book of a dataset is kept: its ledger, and the folder of runs with the notes on who charges
// what.
type Place struct {
	Disk  disk.Disk
	Asked string       // where the caller or the spec wants the ledger, or ""
	Out   string       // the folder of runs
	Test  bool         // noise is from a seed
	Shown bool         // a finished run is shown, which writes what the ledger lacks of it and spends nothing
	Order float64      // of the filter of the cap, where that is rdp and trials fixed it together; 0: not yet
	Seen  *Seen        // of records; may be nil
	Turns *store.Turns // of runs that charge side by side; may be nil
	Log   *slog.Logger
	Clock func() time.Time

	// refuses a place that a confined spec may not name; nil where the caller named the ledger
	Inside func(path string) error
}

// errOtherLedger marks a ledger beside the dataset's own: it would be a second
// budget.
var errOtherLedger = errors.New("the dataset has a ledger already")

// allowed returns where the dataset's ledger lies, if it may lie there. The folder of runs is
// the caller's choice.
func (p Place) allowed(data Dataset) (string, error) {
	path, err := p.ledger(data)
	if err != nil || p.Inside == nil || store.SamePath(filepath.Dir(path), filepath.Join(p.Out, "ledgers")) {
		return path, err
	}
	if err := p.inside(path); err != nil {
		return "", fmt.Errorf("the ledger: %w; or name it by --ledger", err)
	}
	return path, nil
}

// inside refuses a ledger that a confined spec may not name, with all that is written beside it.
func (p Place) inside(path string) (err error) {
	for _, file := range append([]string{path, path + ".lock"}, dataset.BesideLedger(path)...) {
		err = cmp.Or(err, p.Inside(file))
	}
	return err
}

// ledger returns where the dataset's ledger lies: where it lay before, or where
// the caller or the spec says, else beside the file; for a generator, or where the
// dataset's folder is read-only, with the runs. A ledger in another place than
// before is refused while the old one is there.
func (p Place) ledger(data Dataset) (string, error) {
	wanted := p.Asked
	if p.Test {
		return filepath.Abs(p.testLedger(data))
	}
	if strings.HasSuffix(data.Path, marked) {
		return "", dataset.Refusal{Err: fmt.Errorf("%s: has a name that ends in %s, which marks ledgers of runs with a test "+
			"seed: the table %s would share one with it; must have another name", data.Path, marked,
			filepath.Base(strings.TrimSuffix(data.Path, marked)))}
	}
	before := data.ledgerPath()
	if _, err := os.Stat(before); before == "" || err != nil {
		before = ""
	}
	switch {
	case before != "" && wanted != "" && !store.SamePath(before, wanted):
		return "", dataset.Refusal{Err: fmt.Errorf("%w, %s, and is asked to charge %s: a second ledger would be a second "+
			"budget; leave out the other one, or move the ledger there", errOtherLedger, before, wanted)}
	case before != "":
		return before, nil
	case wanted != "":
		return filepath.Abs(wanted)
	}
	return filepath.Abs(p.defaultLedger(data))
}

// former returns the ledger in which the dataset was charged before, where it is gone and the one at path takes its
// place; "" where there is none. It is asked before the owner's side is told of path.
func (p Place) former(data Dataset, path string) string {
	before := data.ledgerPath()
	if _, err := os.Stat(before); p.Test || before == "" || err == nil || store.SamePath(before, path) {
		before = ""
	}
	return p.Seen.formerOf(path, before)
}

// staleLedger returns the ledger beside the table, where another one is charged: it came with a copy of the table, say,
// and lacks what is charged from now on; "" where there is none.
func (p Place) staleLedger(data Dataset, path string) string {
	ledger := dataset.LedgerName(data.Path)
	if _, err := os.Stat(ledger); p.Test || data.Path == "" || err != nil || store.SamePath(ledger, path) {
		return ""
	}
	return ledger
}

// testLedger returns the ledger of runs with a test seed: it must not mix with real
// charges. It has a whole path as every ledger: records of runs name it, and are read
// from other folders, where another table may have the same name.
func (p Place) testLedger(data Dataset) string {
	wanted := p.Asked
	if wanted == "" {
		wanted = p.defaultLedger(data)
	}
	return strings.TrimSuffix(wanted, dataset.LedgerSuffix) + TestLedgerSuffix
}

func (p Place) defaultLedger(data Dataset) string {
	if data.Path != "" && p.Disk.Writable(filepath.Dir(data.Path)) {
		return dataset.LedgerName(data.Path)
	}
	path := filepath.Join(p.Out, "ledgers", data.ID+dataset.LedgerSuffix)
	if data.Path != "" {
		p.Log.Warn("the dataset's folder is read-only, so its ledger lies with the runs; keep it", "ledger", path)
	}
	return path
}

// Dataset is what charges have to know of the data.
type Dataset struct {
	ID, Version string            // random, and as declared: both are public
	Path        string            // of the file; "" for a generator
	Known       *dataset.Identity // what its owner keeps; nil where rows are made up, or noise is from a seed
}

// ledgerPath returns where the charges of the dataset were written before, or "".
func (d Dataset) ledgerPath() string {
	if d.Known == nil {
		return ""
	}
	return d.Known.Ledger
}

// keptLines returns what the owner's copy of the ledger holds, read before the ledger is.
func (d Dataset) keptLines() ([]ledger.Entry, error) {
	if d.Known == nil {
		return nil, nil
	}
	return d.Known.Kept()
}

// checkLedger refuses a ledger that lacks charges which are known to be made.
func (d Dataset) checkLedger(entries, copied []ledger.Entry) error {
	if d.Known == nil {
		return nil
	}
	return cmp.Or(d.Known.CheckLedger(entries), d.Known.CheckKept(entries, copied))
}

// noteLedger keeps the lines and the head of the ledger on the owner's side.
func (d Dataset) noteLedger(path string, entries []ledger.Entry) error {
	if d.Known == nil {
		return nil
	}
	return d.Known.NoteLedger(path, entries)
}

// mend says what to do about a ledger that was altered.
func (d Dataset) mend(err error) error {
	if d.Known == nil || !errors.Is(err, ledger.ErrTampered) {
		return err
	}
	return fmt.Errorf("%w; %s", err, d.Known.HowToRestore())
}

// untracked refuses a charge while git tracks a key of the dataset.
func (d Dataset) untracked(ledger string) error {
	if d.Known == nil {
		return nil
	}
	return d.Known.CheckTracked(ledger)
}

// bind binds the declared version to the content that the run read, before anything is charged.
func (d Dataset) bind(ledger string) error {
	if d.Known == nil {
		return nil
	}
	return d.Known.Bind(ledger)
}
