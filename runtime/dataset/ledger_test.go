package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/ledger"
)

// charge appends n charges to the ledger at path and notes the head of each.
func (b *bench) charge(id *Identity, path string, n int) *ledger.Ledger {
	b.Helper()
	l, err := ledger.Open(disk.Disk{}, path, id.ID, clock)
	if err != nil {
		b.Fatal(err)
	}
	for range n {
		l = b.chargeAs(id, path, fmt.Sprint(l.Head().Count))
	}
	return l
}

func (b *bench) chargeAs(id *Identity, path, name string) *ledger.Ledger {
	b.Helper()
	l, err := ledger.Open(disk.Disk{}, path, id.ID, clock)
	if err != nil {
		b.Fatal(err)
	}
	c := ledger.Charge{ID: name, Run: "r", Spec: "s", Version: id.Version, Stage: "train",
		Unit: ledger.Unit{}, Adjacency: privacy.AddRemove, Event: privacy.Gaussian{NoiseMultiplier: 2}}
	if _, err := l.Append(nil, c); err != nil {
		b.Fatal(err)
	}
	if err := id.NoteLedger(path, l.Entries()); err != nil {
		b.Fatal(err)
	}
	return l
}

// TestLedgerMustHoldItsCharges: deleted, cut or replaced, a ledger is refused by
// every file of the dataset, with what to do.
func TestLedgerMustHoldItsCharges(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	path := b.path("a.csv" + LedgerSuffix)
	id := b.identify("a.csv", "1")
	if err := id.CheckLedger(nil); err != nil {
		t.Errorf("a new dataset needs no ledger: %v", err)
	}
	entries := b.charge(id, path, 3).Entries()
	b.write("copy.csv", people(0, 300))
	other := b.charge(b.identify("copy.csv", "1"), path, 1).Entries()
	for _, file := range []string{"a.csv", "copy.csv"} {
		id := b.identify(file, "1")
		if id.Ledger != path {
			t.Errorf("%s: ledger is %q, must be %q", file, id.Ledger, path)
		}
		if err := id.CheckLedger(other); err != nil {
			t.Errorf("%s: the whole ledger is refused: %v", file, err)
		}
		for name, short := range map[string][]ledger.Entry{"deleted": nil, "cut": entries[:2],
			"without the copy's": entries} {
			err := id.CheckLedger(short)
			mustContain(t, err, "restore "+path, "knowingly", id.place.owner)
			if !errors.As(err, new(Refusal)) || !errors.Is(err, ledger.ErrTampered) {
				t.Errorf("%s, %s: %v, must be a refusal", file, name, err)
			}
		}
	}
}

// TestNoteKeepsTheLongest: a run that notes late takes nothing back.
func TestNoteKeepsTheLongest(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	path := b.path("a.csv" + LedgerSuffix)
	l := b.charge(id, path, 3)
	if err := id.NoteLedger(path, l.Entries()[:1]); err != nil {
		t.Fatal(err)
	}
	if head := b.identify("a.csv", "1").head; head != l.Head() {
		t.Errorf("head is %v, must stay %v", head, l.Head())
	}
	os.Remove(b.path("a.csv" + OwnerSuffix))
	mustContain(t, id.NoteLedger(path, l.Entries()), OwnerSuffix, "is gone")
}

// TestHeadOfAnotherFolderOfRuns: what one folder of runs charged, the other learns
// from the owner file.
func TestHeadOfAnotherFolderOfRuns(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	path, dir := b.path("a.csv"+LedgerSuffix), b.out
	id := b.identify("a.csv", "1")
	b.out += "2"
	b.charge(b.identify("a.csv", "1"), path, 1)
	l := b.charge(id, path, 1)
	if other := b.identify("a.csv", "1"); other.head != l.Head() || other.ID != id.ID {
		t.Errorf("head is %v, must be %v", other.head, l.Head())
	}
	b.out = dir
	if err := b.identify("a.csv", "1").CheckLedger(l.Entries()[:1]); err == nil {
		t.Error("a cut ledger passes under the other folder of runs")
	}
}

// TestStartingAnewKnowingly: as the refusal says, and only so.
func TestStartingAnewKnowingly(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	b.charge(one, b.path("a.csv"+LedgerSuffix), 1)
	os.Remove(b.path("a.csv" + LedgerSuffix))
	os.Remove(b.path("a.csv" + OwnerSuffix))
	if two := b.identify("a.csv", "1"); two.ID != one.ID || two.CheckLedger(nil) == nil {
		t.Error("removing the owner file alone starts another budget without a word")
	}
	os.Remove(b.path("a.csv" + OwnerSuffix))
	os.Remove(b.path("a.csv" + KeptSuffix))
	os.Remove(filepath.Join(b.out, "datasets", one.ID+".json"))
	if three := b.identify("a.csv", "1"); three.ID == one.ID || three.CheckLedger(nil) != nil {
		t.Error("another budget cannot be started knowingly")
	}
}

// TestCommittedLedger: a ledger beside the data says whose it is, where the owner
// file stayed on another machine.
func TestCommittedLedger(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	l := b.charge(one, b.path("a.csv"+LedgerSuffix), 2)
	b.out += "2"
	os.Remove(b.path("a.csv" + OwnerSuffix))
	two := b.identify("a.csv", "1")
	if two.ID != one.ID || two.Ledger != b.path("a.csv"+LedgerSuffix) || two.CheckLedger(nil) == nil ||
		two.CheckLedger(l.Entries()) != nil {
		t.Errorf("%+v: must be %s by its ledger", two, one.ID)
	}
	b.write("b.csv", people(1000, 1300))
	b.write("b.csv"+LedgerSuffix, "{}\n")
	if _, err := b.try("b.csv", "1"); err == nil {
		t.Error("a damaged ledger passes for none")
	}
}

func TestContinue(t *testing.T) {
	for _, run := range []bool{false, true} {
		b := newBench(t)
		b.write("old.csv", people(0, 300))
		old := b.identify("old.csv", "1")
		ledgerPath := b.path("old.csv" + LedgerSuffix)
		l := b.charge(old, ledgerPath, 2)
		b.write("new.csv", people(0, 400))
		var former string
		if run {
			former = b.identify("new.csv", "2").ID
		}
		os.Remove(b.path("old.csv")) // an extract of last year need not be kept
		for _, name := range []string{"old.csv", "old.csv" + LedgerSuffix, "new.csv"} {
			done, err := Continue(Continuation{Out: b.out, Old: b.path(name), New: b.path("new.csv"), Random: b.random})
			if err != nil || done.ID != old.ID || done.Ledger != ledgerPath {
				t.Fatalf("%s: %+v, %v, must be %s", name, done, err, old.ID)
			}
		}
		if run {
			b.write("early.csv", people(0, 400))
			if early := b.identify("early.csv", "2"); early.ID != old.ID {
				t.Errorf("%+v: the content of the former id is forgotten", early)
			}
		}
		id := b.identify("new.csv", "2")
		if id.ID != old.ID || id.Secret == old.Secret || id.Ledger != ledgerPath || len(id.Overlaps) > 0 {
			t.Errorf("%+v, must be of %s", id, old.ID)
		}
		if id.CheckLedger(nil) == nil || id.CheckLedger(l.Entries()) != nil {
			t.Error("the charges of the old file are forgotten")
		}
		if _, err := os.Stat(filepath.Join(b.out, "datasets", former+".json")); run && err == nil {
			t.Error("the former id is still known")
		}
		b.write("copy.csv", people(0, 400))
		if copied := b.identify("copy.csv", "2"); copied.ID != old.ID {
			t.Errorf("%+v: a copy of the new file is of another dataset", copied)
		}
	}
}

// TestContinueByALedgerElsewhere: `--ledger` put it away from the data.
func TestContinueByALedgerElsewhere(t *testing.T) {
	b := newBench(t)
	b.write("old.csv", people(0, 300))
	old := b.identify("old.csv", "1")
	b.charge(old, b.path("budget.jsonl"), 1)
	b.write("new.csv", people(0, 400))
	if done, err := Continue(Continuation{Out: b.out, Old: b.path("budget.jsonl"), New: b.path("new.csv")}); err != nil ||
		done.ID != old.ID {
		t.Errorf("%+v, %v, must be %s", done, err, old.ID)
	}
}

func TestContinueRefuses(t *testing.T) {
	b := newBench(t)
	b.write("old.csv", people(0, 300))
	b.write("new.csv", people(0, 400))
	continues := func(old, new string) error {
		_, err := Continue(Continuation{Out: b.out, Old: b.path(old), New: b.path(new), Random: b.random})
		return err
	}
	mustContain(t, continues("old.csv", "new.csv"), "is not known")
	mustContain(t, continues("old.csv", "absent.csv"), "absent.csv")
	old := b.identify("old.csv", "1")
	id := b.identify("new.csv", "1")
	b.charge(old, b.path("old.csv"+LedgerSuffix), 1)
	b.charge(id, b.path("new.csv"+LedgerSuffix), 1)
	for _, name := range []string{"new.csv", "old.csv"} {
		path := b.path(name + LedgerSuffix)
		text, _ := os.ReadFile(path)
		os.Remove(path)
		err := continues("old.csv", "new.csv")
		mustContain(t, err, path, "must hold all charges", "restore it")
		if !errors.As(err, new(Refusal)) || b.identify("new.csv", "1").ID != id.ID {
			t.Errorf("%v: must be a refusal that changes nothing", err)
		}
		os.WriteFile(path, text, 0o644)
	}
}
