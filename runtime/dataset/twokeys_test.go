package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tryAt identifies at another time.
func (b *bench) tryAt(name string, at time.Time) (*Identity, error) {
	o := b.opening(name, "1")
	o.Clock = func() time.Time { return at }
	return Identify(b.Context(), o)
}

// TestLostOwnerFileAndAnotherOut: a run under another folder of runs makes a new key
// and says so; the first folder then refuses, names the older key and what to do, and
// that works.
func TestLostOwnerFileAndAnotherOut(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	if err := one.Bind(""); err != nil {
		t.Fatal(err)
	}
	b.charge(one, b.path("a.csv"+LedgerSuffix), 2)
	os.Remove(b.path("a.csv" + OwnerSuffix))
	dir := b.out
	b.out += "2"
	two, err := b.tryAt("a.csv", clock().Add(24*time.Hour))
	if err != nil || two.ID != one.ID || !strings.Contains(strings.Join(two.Notes, "\n"), "gets a new key") {
		t.Fatalf("%+v, %v: must say that there is a new key", two, err)
	}
	b.out = dir
	_, err = b.try("a.csv", "1")
	record, owner := filepath.Join(b.out, "datasets", one.ID+".json"), b.path("a.csv"+OwnerSuffix)
	mustContain(t, err, "the older one is in "+record+" (first seen 2026-01-02 03:04:05, 2 charges noted)",
		"the newer in "+owner+" (first seen 2026-01-03", "move "+owner+" away")
	if !errors.As(err, new(Refusal)) {
		t.Errorf("%v: must be a refusal", err)
	}
	os.Rename(owner, owner+".away")
	if again, err := b.try("a.csv", "1"); err != nil || again.Secret != one.Secret || again.Ledger != one.Ledger &&
		again.Ledger != b.path("a.csv"+LedgerSuffix) {
		t.Errorf("%+v, %v: must have the older key", again, err)
	}
}

// TestTwoOwnerFilesOfOnePlace: beside the data and with the runs.
func TestTwoOwnerFilesOfOnePlace(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.identify("a.csv", "1")
	p := placeOf(b.out, b.path("a.csv"))
	text, _ := os.ReadFile(p.beside)
	from := strings.Index(string(text), `"key": "`) + 8
	copy(text[from:], strings.Repeat("ab", 32))
	os.MkdirAll(filepath.Dir(p.aside), 0o700)
	os.WriteFile(p.aside, text, 0o600)
	_, err := b.try("a.csv", "1")
	mustContain(t, err, p.aside, "as far as can be told", "away")
	if !errors.As(err, new(Refusal)) || strings.Contains(err.Error(), "abab") {
		t.Errorf("%v: must be a refusal without a key", err)
	}
}

// TestOrphanedLedger: a renamed table leaves its ledger behind, whose budget a new
// key would forget; a ledger with its owner file is another dataset's.
func TestOrphanedLedger(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.charge(b.identify("a.csv", "1"), b.path("a.csv"+LedgerSuffix), 1)
	b.out += "2"
	b.write("b.csv", people(1000, 1300))
	if notes := strings.Join(b.identify("b.csv", "1").Notes, "\n"); strings.Contains(notes, "new key") {
		t.Errorf("%s: another dataset's ledger is told", notes)
	}
	os.Remove(b.path("a.csv" + OwnerSuffix))
	os.Rename(b.path("a.csv"), b.path("c.csv"))
	if notes := strings.Join(b.identify("c.csv", "1").Notes, "\n"); !strings.Contains(notes, "gets a new key, and a.csv"+
		LedgerSuffix) {
		t.Errorf("%s: must name the ledger", notes)
	}
	path := b.path("a.csv" + LedgerSuffix)
	if _, err := Continue(Continuation{Out: b.out, Old: path, New: b.path("c.csv"), Random: b.random,
		Clock: clock}); err != nil {
		t.Fatal(err)
	}
	if id := b.identify("c.csv", "1"); id.Ledger != path || id.CheckLedger(nil) == nil {
		t.Errorf("%+v: must go on with the ledger, as the note says", id)
	}
}
