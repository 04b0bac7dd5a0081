package dataset

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
)

// joining is a dataset and a corrected copy of it that was charged on its own.
type joining struct {
	*bench
	old, new         *Identity
	ledger, newCosts string
}

func newJoining(t *testing.T) joining {
	b := newBench(t)
	b.write("old.csv", people(0, 300))
	b.write("new.csv", people(0, 400))
	j := joining{b, b.identify("old.csv", "1"), b.identify("new.csv", "1"), b.path("old.csv" + LedgerSuffix),
		b.path("new.csv" + LedgerSuffix)}
	b.charge(j.old, j.ledger, 2)
	b.charge(j.new, j.newCosts, 3)
	return j
}

func (j joining) join() Continued {
	j.Helper()
	done, err := Continue(Continuation{Out: j.out, Old: j.path("old.csv"), New: j.path("new.csv"), Random: j.random,
		Clock: clock})
	if err != nil {
		j.Fatal(err)
	}
	return done
}

// spent returns the length of a ledger and its total.
func (j joining) spent(path string) (int, float64) {
	j.Helper()
	entries, err := readLedger(path)
	if err != nil {
		j.Fatal(err)
	}
	accountant, err := account.ByName("rdp")
	if err != nil {
		j.Fatal(err)
	}
	total, err := ledger.Sum(entries, accountant, privacy.AddRemove, ledger.Unit{}, 1e-6)
	if err != nil {
		j.Fatal(err)
	}
	return len(entries), total.Epsilon
}

// TestContinueTakesCharges: the joined dataset has spent what both have, and the
// former ledger stays, as it was, under another name.
func TestContinueTakesCharges(t *testing.T) {
	j := newJoining(t)
	former, _ := os.ReadFile(j.newCosts)
	_, before := j.spent(j.ledger)
	done := j.join()
	n, after := j.spent(j.ledger)
	accountant, _ := account.ByName("rdp")
	want, _ := accountant.Epsilon([]privacy.Event{privacy.Repeated{Count: 5, Event: privacy.Gaussian{NoiseMultiplier: 2}}},
		privacy.AddRemove, 1e-6)
	if n != 5 || !(after > before) || math.Abs(after-want) > 1e-9 {
		t.Errorf("%d charges of epsilon %g, %g before, must be 5 of %g", n, after, before, want)
	}
	if done.ID != j.old.ID || done.Charges != 3 || done.Ledger != j.ledger || done.Former != j.newCosts+JoinedSuffix {
		t.Errorf("%+v", done)
	}
	if now, _ := os.ReadFile(done.Former); string(now) != string(former) {
		t.Error("the former ledger is not kept as it was")
	}
	if _, err := os.Stat(j.newCosts); err == nil {
		t.Error("the former ledger can still be charged")
	}
	id, entries := j.identify("new.csv", "1"), mustRead(t, j.ledger)
	if id.ID != j.old.ID || id.Ledger != j.ledger || len(id.Overlaps) > 0 || id.CheckLedger(entries) != nil ||
		id.CheckLedger(entries[:4]) == nil {
		t.Errorf("%+v: must be %s with all charges", id, j.old.ID)
	}
	last := entries[4]
	if !strings.HasSuffix(last.ID, " joined from "+j.new.ID) || last.Dataset != j.old.ID || last.Stage != "train" ||
		last.Adjacency != privacy.AddRemove {
		t.Errorf("%+v", last)
	}
	os.Remove(filepath.Join(j.out, "datasets", j.old.ID+".json")) // so that the owner file alone knows
	if j.identify("old.csv", "1").CheckLedger(entries[:2]) == nil {
		t.Error("the owner file of the old file does not know of the joined charges")
	}
	if again := j.join(); again.ID != j.old.ID {
		t.Errorf("%+v", again)
	}
	if n, _ := j.spent(j.ledger); n != 5 {
		t.Errorf("%d charges after a repetition, must be 5", n)
	}
}

func mustRead(t *testing.T, path string) []ledger.Entry {
	t.Helper()
	entries, err := readLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestContinueInterrupted: whatever is done already when it stops, a repetition
// comes to the same files.
func TestContinueInterrupted(t *testing.T) {
	whole := newJoining(t)
	record := filepath.Join(whole.out, "datasets", whole.new.ID+".json")
	owner := whole.path("new.csv" + OwnerSuffix)
	rec, _ := os.ReadFile(record)
	ownerBytes, _ := os.ReadFile(owner)
	oldOwn, _ := os.ReadFile(whole.path("old.csv" + OwnerSuffix))
	lines, _ := os.ReadFile(whole.newCosts)
	whole.join()
	all := mustRead(t, whole.ledger)
	full, _ := os.ReadFile(whole.ledger)
	for name, undo := range map[string]func(){
		"before the owner file": func() {},
		"before the renaming":   func() { os.Rename(whole.newCosts+JoinedSuffix, whole.newCosts) },
		"before the record went": func() {
			os.Rename(whole.newCosts+JoinedSuffix, whole.newCosts)
			os.WriteFile(record, rec, 0o600)
		},
		"within a line": func() {
			os.Rename(whole.newCosts+JoinedSuffix, whole.newCosts)
			os.WriteFile(record, rec, 0o600)
			os.Remove(filepath.Join(whole.out, "datasets", whole.old.ID+".json"))
			os.WriteFile(whole.path("old.csv"+OwnerSuffix), oldOwn, 0o600)
			os.WriteFile(whole.ledger, full[:len(full)-40], 0o644)
		},
	} {
		undo()
		os.WriteFile(owner, ownerBytes, 0o600)
		whole.join()
		if now := mustRead(t, whole.ledger); !reflect.DeepEqual(now, all) {
			t.Errorf("%s: %d charges, must be the same %d", name, len(now), len(all))
		}
		if kept, _ := os.ReadFile(whole.newCosts + JoinedSuffix); string(kept) != string(lines) {
			t.Errorf("%s: the former ledger is not kept", name)
		}
		id := whole.identify("new.csv", "1")
		if id.ID != whole.old.ID || id.CheckLedger(all[:4]) == nil {
			t.Errorf("%s: %+v", name, id)
		}
		if _, err := os.Stat(record); err == nil {
			t.Errorf("%s: the former id is still known", name)
		}
	}
}

// TestContinueIntoNoLedger: the old dataset was read and never charged, or the
// new one has a ledger and no owner file.
func TestContinueIntoNoLedger(t *testing.T) {
	j := newJoining(t)
	j.write("free.csv", people(0, 350))
	free := j.identify("free.csv", "1")
	os.Remove(j.path("new.csv" + OwnerSuffix))
	os.Remove(filepath.Join(j.out, "datasets", j.new.ID+".json"))
	done, err := Continue(Continuation{Out: j.out, Old: j.path("free.csv"), New: j.path("new.csv"), Random: j.random,
		Clock: clock})
	if err != nil || done.ID != free.ID || done.Charges != 3 || done.Ledger != j.path("free.csv"+LedgerSuffix) {
		t.Fatalf("%+v, %v", done, err)
	}
	if n, _ := j.spent(done.Ledger); n != 3 {
		t.Errorf("%d charges, must be 3", n)
	}
}

// TestJoinedNameIsTaken: what was set aside is not written over.
func TestJoinedNameIsTaken(t *testing.T) {
	j := newJoining(t)
	os.WriteFile(j.newCosts+JoinedSuffix, []byte("mine\n"), 0o644)
	if done := j.join(); done.Former != j.newCosts+JoinedSuffix+"."+j.new.ID {
		t.Errorf("%+v", done)
	}
	if text, _ := os.ReadFile(j.newCosts + JoinedSuffix); string(text) != "mine\n" {
		t.Error("a file was written over")
	}
}
