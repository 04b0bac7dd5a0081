package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"weir/internal/disk"
	"weir/internal/stattest"
	"weir/privacy"
	"weir/privacy/ledger"
)

func (b *bench) restore(of string) (Restored, error) {
	return Restore(Restoration{Out: b.out, Of: b.path(of)})
}

func (b *bench) read(path string) string {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

var errDied = errors.New("the process died")

// dying fails the change with this number and all that follow, as after a kill; half of a
// write is done.
func dying(at int, n *int) disk.Disk {
	return disk.Disk{Watch: func(c disk.Change) (int64, error) {
		if *n++; *n >= at {
			return c.Size / 2, errDied
		}
		return 0, nil
	}}
}

// pay makes a charge as a run does: the ledger is opened, held against what the owner's side
// keeps, and followed; then the charge is written, and kept.
func (b *bench) pay(d disk.Disk, id *Identity, path, name string) error {
	id.place.disk = d
	entries, err := id.Kept()
	if err != nil {
		return err
	}
	l, err := ledger.Open(d, path, id.ID, clock)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return id.CheckLedger(l.Entries()) },
		func() error { return id.CheckKept(l.Entries(), entries) },
		func() error { return id.NoteLedger(path, l.Entries()) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	c := ledger.Charge{ID: name, Run: "r", Spec: "s", Version: id.Version, Stage: "train",
		Unit: ledger.Unit{}, Adjacency: privacy.AddRemove, Event: privacy.Gaussian{NoiseMultiplier: 2}}
	if _, err := l.Append(nil, c); err != nil && !errors.Is(err, ledger.ErrCharged) {
		return err
	}
	return id.NoteLedger(path, l.Entries())
}

// TestKilledWhileCharging: wherever a run dies within its second charge, the next one ends with
// the same lines in ledger and copy, none lost and none twice; and where the ledger is lost
// meanwhile, the copy brings back at least each charge whose noise could have been drawn.
func TestKilledWhileCharging(t *testing.T) {
	died := 0
	for pos, done := 1, false; !done; pos++ {
		for i, lost := range []string{"nothing", "ledger", "last line"} {
			if (pos+i)%stattest.Rounds(3, 1) != 0 { // an ordinary run takes them in turns
				continue
			}
			b := newBench(t)
			b.write("a.csv", people(0, 300))
			path := b.path("a.csv" + LedgerSuffix)
			if err := b.pay(disk.Disk{}, b.identify("a.csv", "1"), path, "one"); err != nil {
				t.Fatal(err)
			}
			first, n := b.read(path), 0
			failed := b.pay(dying(pos, &n), b.identify("a.csv", "1"), path, "two")
			done = done || failed == nil
			switch lost {
			case "ledger":
				os.Remove(path)
			case "last line":
				os.WriteFile(path, []byte(first), 0o644)
			}
			if _, err := b.restore("a.csv"); err != nil {
				t.Errorf("change %d, %s lost: %v", pos, lost, err)
			}
			if held := len(mustReadCut(t, path)); held < 1 || failed == nil && held != 2 {
				t.Errorf("change %d, %s lost: %d charges are restored (the run says %v)", pos, lost, held, failed)
			}
			if err := b.pay(disk.Disk{}, b.identify("a.csv", "1"), path, "two"); err != nil {
				t.Errorf("change %d, %s lost: the next run: %v", pos, lost, err)
			}
			if entries := mustRead(t, path); len(entries) != 2 || b.read(path) != b.read(b.path("a.csv"+KeptSuffix)) {
				t.Errorf("change %d, %s lost: %d charges, must be 2 and the same in the copy", pos, lost, len(entries))
			}
			if failed != nil {
				died++
			}
		}
	}
	if died < stattest.Rounds(10, 30) {
		t.Errorf("the run died in %d ways, must be some ten changes, in three ways each under -tags long", died)
	}
}

// mustReadCut reads the whole lines of a ledger that a crash may have cut.
func mustReadCut(t *testing.T, path string) []ledger.Entry {
	t.Helper()
	l, err := ledger.View(path, "", clock)
	if err != nil {
		t.Fatal(err)
	}
	return l.Entries()
}

// TestChargeOfACutLedgerIsRefused: a ledger that lost lines while a run was going on takes
// no charge to its end that could draw noise, and restore says how to join what came of it.
func TestChargeOfACutLedgerIsRefused(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	path := b.path("a.csv" + LedgerSuffix)
	id := b.identify("a.csv", "1")
	l := b.charge(id, path, 2)
	os.WriteFile(path, []byte(strings.SplitAfter(b.read(path), "\n")[0]), 0o644)
	c := ledger.Charge{ID: "three", Run: "r", Spec: "s", Version: "1", Stage: "train",
		Adjacency: privacy.AddRemove, Event: privacy.Gaussian{NoiseMultiplier: 2}}
	if _, err := l.Append(nil, c); err != nil {
		t.Fatal(err)
	}
	err := id.NoteLedger(path, l.Entries())
	mustContain(t, err, "weir ledger restore "+b.path("a.csv"), "knowingly", b.path("a.csv"+KeptSuffix))
	if !errors.As(err, new(Refusal)) {
		t.Errorf("%v, must be a refusal", err)
	}
	_, err = b.restore("a.csv")
	mustContain(t, err, "weir ledger merge "+path+" "+b.path("a.csv"+KeptSuffix))
	if err := ledger.MergeFiles(disk.Disk{}, path, b.path("a.csv"+KeptSuffix)); err != nil {
		t.Fatal(err)
	}
	if err := b.pay(disk.Disk{}, b.identify("a.csv", "1"), path, "four"); err != nil || len(mustRead(t, path)) != 4 {
		t.Errorf("after the merge: %v, %d charges, must be 4", err, len(mustRead(t, path)))
	}
}

// TestRestoreOfEarlierDatasets: one that was charged before there were copies gets one when
// its ledger is opened whole, and none from a cut one.
func TestRestoreOfEarlierDatasets(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	path, copyPath := b.path("a.csv"+LedgerSuffix), b.path("a.csv"+KeptSuffix)
	b.charge(b.identify("a.csv", "1"), path, 20)
	os.Remove(copyPath)
	whole := b.read(path)
	os.WriteFile(path, []byte(whole[:len(whole)/2]), 0o644)
	if err := b.pay(disk.Disk{}, b.identify("a.csv", "1"), path, "x"); err == nil {
		t.Error("a cut ledger is charged")
	}
	if _, err := os.Stat(copyPath); err == nil {
		t.Error("a cut ledger was copied")
	}
	_, err := b.restore("a.csv")
	mustContain(t, err, "nothing was written", copyPath, "no record under "+b.out)
	os.WriteFile(path, []byte(whole), 0o644)
	if err := b.pay(disk.Disk{}, b.identify("a.csv", "1"), path, "x"); err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	want := Restored{ID: b.identify("a.csv", "1").ID, Ledger: path, Copy: copyPath, Charges: 21}
	if done, err := b.restore("a.csv"); err != nil || !reflect.DeepEqual(done, want) {
		t.Errorf("%+v, %v, must be %+v", done, err, want)
	}
}

// TestRestoreFromAnyFileOfTheDataset: each file has a copy of its own, and the one that holds the
// noted head is taken, whichever file is named.
func TestRestoreFromAnyFileOfTheDataset(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	path := b.path("a.csv" + LedgerSuffix)
	b.charge(b.identify("a.csv", "1"), path, 2)
	b.write("copy.csv", people(0, 300))
	b.charge(b.identify("copy.csv", "1"), path, 1)
	whole := b.read(path)
	for _, name := range []string{"a.csv", "copy.csv", "a.csv" + LedgerSuffix} {
		os.Remove(path)
		done, err := b.restore(name)
		if err != nil || done.Charges != 3 || b.read(path) != whole {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	two := strings.Join(strings.SplitAfter(whole, "\n")[:2], "")
	os.WriteFile(b.path("a.csv"+KeptSuffix), []byte(two), 0o600) // the copy beside the ledger follows every file's charges
	os.Remove(path)
	if done, err := b.restore("a.csv"); err != nil || done.Copy != b.path("copy.csv"+KeptSuffix) || b.read(path) != whole {
		t.Errorf("of a copy that lacks a charge: %+v, %v", done, err)
	}
	os.Remove(path)
	os.Remove(b.path("copy.csv" + KeptSuffix))
	_, err := b.restore("a.csv")
	mustContain(t, err, "has 2 charges, had 3")
	if _, err := os.Stat(path); err == nil {
		t.Error("a ledger with fewer charges was written")
	}
}

// TestRestoreBelievesTheNotedHead: a copy with fewer lines, with other lines, or without an owner
// file that notes a head restores nothing.
func TestRestoreBelievesTheNotedHead(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	path, copyPath := b.path("a.csv"+LedgerSuffix), b.path("a.csv"+KeptSuffix)
	b.charge(b.identify("a.csv", "1"), path, 3)
	lines := strings.SplitAfter(b.read(path), "\n")
	other := newBench(t)
	other.write("a.csv", people(0, 300))
	other.random = bytes.NewReader(bytes.Repeat([]byte{7}, 1000))
	other.charge(other.identify("a.csv", "1"), other.path("a.csv"+LedgerSuffix), 3)
	os.Remove(path)
	for name, text := range map[string]string{
		"cut":                lines[0] + lines[1],
		"of another dataset": other.read(other.path("a.csv" + KeptSuffix)),
		"reordered":          lines[0] + lines[2] + lines[1],
		"edited":             strings.Replace(strings.Join(lines, ""), `"stage":"train"`, `"stage":"trail"`, 1),
		"empty":              "",
	} {
		os.WriteFile(copyPath, []byte(text), 0o600)
		if done, err := b.restore("a.csv"); err == nil {
			t.Errorf("%s: restored %+v", name, done)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a ledger was written", name)
		}
	}
	os.WriteFile(copyPath, []byte(strings.Join(lines, "")), 0o600)
	if _, err := b.restore("a.csv"); err != nil {
		t.Error(err)
	}
	os.Remove(b.path("a.csv" + OwnerSuffix))
	os.RemoveAll(filepath.Join(b.out, "datasets"))
	if _, err := b.restore("a.csv"); !errors.Is(err, ErrUnknown) {
		t.Errorf("without a noted head: %v", err)
	}
	b.write("b.csv", people(400, 700))
	b.identify("b.csv", "1")
	if _, err := b.restore("b.csv"); !errors.Is(err, ErrUncharged) {
		t.Errorf("without charges: %v", err)
	}
}

// TestContinueKeepsCopies: the copies of both files hold what the joined ledger does, and the
// former copy stays under another name.
func TestContinueKeepsCopies(t *testing.T) {
	j := newJoining(t)
	former := j.read(j.path("new.csv" + KeptSuffix))
	j.join()
	whole := j.read(j.ledger)
	for _, name := range []string{"old.csv", "new.csv"} {
		if j.read(j.path(name+KeptSuffix)) != whole {
			t.Errorf("the copy of %s is not the ledger's", name)
		}
		os.Remove(j.ledger)
		if done, err := j.restore(name); err != nil || done.Charges != 5 || j.read(j.ledger) != whole {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	if j.read(j.path(fmt.Sprintf("new.csv%s%s.%s", KeptSuffix, JoinedSuffix, j.new.ID))) != former {
		t.Error("the former copy is not kept")
	}
}

// TestCopyOfAnEarlierBudget: whoever starts another budget removes the copy too, as the
// refusal says; what is left of the former one is no copy of the new ledger.
func TestCopyOfAnEarlierBudget(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	path, copyPath := b.path("a.csv"+LedgerSuffix), b.path("a.csv"+KeptSuffix)
	one := b.identify("a.csv", "1")
	b.charge(one, path, 1)
	mustContain(t, one.CheckKept(nil, mustRead(t, path)), copyPath, "knowingly")
	for _, name := range []string{path, b.path("a.csv" + OwnerSuffix), filepath.Join(b.out, "datasets", one.ID+".json")} {
		os.Remove(name)
	}
	err := b.pay(disk.Disk{}, b.identify("a.csv", "1"), path, "x")
	mustContain(t, err, copyPath, one.ID, "weir ledger restore", "knowingly")
	if !errors.As(err, new(Refusal)) {
		t.Errorf("%v, must be a refusal", err)
	}
	for _, name := range []string{copyPath, b.path("a.csv" + OwnerSuffix), filepath.Join(b.out, "datasets",
		one.ID+".json")} {
		os.Remove(name)
	}
	if err := b.pay(disk.Disk{}, b.identify("a.csv", "1"), path, "x"); err != nil {
		t.Error(err)
	}
}

// TestCopyAloneNamesItsDataset: where owner file and ledger are both lost, the copy of the ledger says which
// dataset the file is, so that what was spent comes back from there and no new id stands in the way.
func TestCopyAloneNamesItsDataset(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	if err := b.pay(disk.Disk{}, id, b.path("a.csv"+LedgerSuffix), "one"); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []string{OwnerSuffix, LedgerSuffix} {
		if err := os.Remove(b.path("a.csv" + lost)); err != nil {
			t.Fatal(err)
		}
	}
	b.out = b.path("other-runs")
	again := b.identify("a.csv", "1")
	if again.ID != id.ID {
		t.Errorf("a.csv is %s, must be %s by the copy beside it", again.ID, id.ID)
	}
	mustContain(t, again.CheckLedger(nil), "weir ledger restore")
	if done, err := b.restore("a.csv"); err != nil || done.Charges != 1 {
		t.Errorf("%+v, %v, must restore the charge", done, err)
	}
}

// TestRestoreFollowsAMovedTable: a table that moved with its owner file, with or without its ledger, has the ledger
// beside it, and the folder that it left is not made again.
func TestRestoreFollowsAMovedTable(t *testing.T) {
	for _, lost := range []bool{false, true} {
		b := newBench(t)
		b.dir = filepath.Join(b.dir, "here")
		if err := os.Mkdir(b.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		b.write("a.csv", people(0, 300))
		b.charge(b.identify("a.csv", "1"), b.path("a.csv"+LedgerSuffix), 3)
		left := b.dir
		b.dir = filepath.Join(filepath.Dir(left), "there")
		if err := os.Rename(left, b.dir); err != nil {
			t.Fatal(err)
		}
		ledger := b.path("a.csv" + LedgerSuffix)
		if lost {
			os.Remove(ledger)
		}
		done, err := Restore(Restoration{Out: filepath.Join(b.dir, "runs"), Of: b.path("a.csv")})
		if err != nil || done.Ledger != ledger || len(mustRead(t, ledger)) != 3 {
			t.Errorf("lost: %v: %+v %v, must be the ledger beside the table", lost, done, err)
		}
		if exists(left) {
			t.Errorf("lost: %v: %s is there again", lost, left)
		}
	}
}
