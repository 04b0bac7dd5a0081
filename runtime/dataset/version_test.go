package dataset

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/ledger"
)

// TestVersionsAreBoundByACharge: until something is charged a version may have any content; the first
// charge binds it, and then every other content is refused, whoever reads it and from wherever.
func TestVersionsAreBoundByACharge(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	b.write("a.csv", people(0, 299))
	other := b.identify("a.csv", "")
	if other.ID != one.ID || other.Version != "1" || other.Content() == one.Content() {
		t.Fatalf("%+v: content that was never charged is held against another", other)
	}
	if err := errors.Join(other.Bind(""), other.Bind(""), b.identify("a.csv", "1").Bind("")); err != nil {
		t.Fatal(err)
	}
	b.mustRefuse(one.Bind("")) // two runs at once: the first to charge has the word
	b.write("a.csv", people(0, 300))
	b.mustRefuse(b.fails("a.csv", "1"))
	b.write("copy.csv", people(0, 300)) // which this folder of runs knows by its content
	b.mustRefuse(b.fails("copy.csv", "1"))
	two := b.identify("a.csv", "2")
	if err := two.Bind(""); err != nil || two.ID != one.ID {
		t.Errorf("%+v, %v: content under a new version is refused", two, err)
	}
	b.write("a.csv", people(0, 299))
	if err := b.fails("a.csv", "2"); b.mustRefuse(err) && !strings.Contains(err.Error(),
		`was charged under, dataset.version: "1"`) {
		t.Errorf("%v: must name the version that the content has", err)
	}
	if again := b.identify("a.csv", "1"); again.Secret != other.Secret || again.Content() != other.Content() {
		t.Errorf("%+v: the bound content is not known again", again)
	}
}

// TestRunsThatChargeNothingReadAnyContent: they are told of it.
func TestRunsThatChargeNothingReadAnyContent(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	if err := b.identify("a.csv", "1").Bind(""); err != nil {
		t.Fatal(err)
	}
	b.write("a.csv", people(0, 299))
	for what, change := range map[string]func(*Opening){"uncharged": func(o *Opening) { o.Uncharged = true },
		"replay": func(o *Opening) { o.Replay = true }} {
		o := b.opening("a.csv", "1")
		change(&o)
		id, err := Identify(t.Context(), o)
		want := map[string]string{"uncharged": "declare another dataset.version",
			"replay": "the rows of that version must be here"}[what]
		if err != nil || !strings.Contains(strings.Join(id.Notes, ""), want) {
			t.Errorf("%s: %v: must read other content, and tell", what, err)
		}
	}
}

// TestSecretsBelongToAContent: each content of each version has a secret of its own, which stays.
func TestSecretsBelongToAContent(t *testing.T) {
	b, seen := newBench(t), map[string]string{}
	for _, c := range []struct {
		rows    int
		version string
	}{{300, "1"}, {299, "1"}, {300, "2"}, {299, "2"}, {300, "1"}, {299, "2"}} {
		b.write("a.csv", people(0, c.rows))
		id := b.identify("a.csv", c.version)
		name := id.Version + " " + id.Content()
		if before, ok := seen[name]; ok && before != id.Secret.Hex() {
			t.Errorf("%s: has another secret than before", name)
		}
		seen[name] = id.Secret.Hex()
	}
	if all := slices.Compact(slices.Sorted(maps.Values(seen))); len(seen) != 4 || len(all) != 4 {
		t.Errorf("%d contents have %d secrets, must have 4 and 4", len(seen), len(all))
	}
}

// TestOwnersThatWereCopied: two machines with copies of one owner file bind a version each. Where their
// files come together again, the version means two contents and neither may be charged.
func TestOwnersThatWereCopied(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	if err := b.identify("a.csv", "1").Bind(""); err != nil {
		t.Fatal(err)
	}
	away := b.path("a.csv") + OwnerSuffix
	before, _ := os.ReadFile(away)
	b.write("a.csv", people(0, 299))
	identity := b.identify("a.csv", "2")
	elsewhere := *b
	elsewhere.out = t.TempDir()
	if err := errors.Join(identity.Bind(""), os.WriteFile(away, before, 0o600)); err != nil {
		t.Fatal(err)
	}
	b.write("a.csv", people(0, 298))
	there := elsewhere.identify("a.csv", "2")
	if err := there.Bind(""); err != nil || there.Secret == identity.Secret || there.ID != identity.ID {
		t.Errorf("%+v, %v: a machine that does not know of the other shares its secret", there, err)
	}
	b.mustRefuse(b.fails("a.csv", "2"))
	b.write("a.csv", people(0, 299))
	b.mustRefuse(b.fails("a.csv", "2"))
	if id := b.identify("a.csv", "3"); id.Bind("") != nil {
		t.Error("a new version of content that two machines know is refused")
	}
}

// TestTwoFilesBindInOnePlace: two files of a dataset under two folders of runs have one ledger, and the owner
// file beside it says to both what a version means, also where both have opened their file before.
func TestTwoFilesBindInOnePlace(t *testing.T) {
	b := newBench(t)
	elsewhere := *b
	elsewhere.out = t.TempDir()
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	l, err := ledger.Open(disk.Disk{}, b.path("a.csv"+LedgerSuffix), one.ID, clock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(nil, ledger.Charge{ID: "1", Version: "1", Event: privacy.Gaussian{NoiseMultiplier: 1},
		Adjacency: privacy.AddRemove}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(one.Bind(""), one.NoteLedger(b.path("a.csv"+LedgerSuffix), l.Entries())); err != nil {
		t.Fatal(err)
	}
	b.write("b.csv", people(0, 300))
	if two := elsewhere.identify("b.csv", "1"); two.ID != one.ID || two.Secret != one.Secret || two.Bind("") != nil {
		t.Errorf("%+v: a copy under another folder of runs is another dataset", two)
	}
	b.write("b.csv", people(0, 299))
	open := elsewhere.identify("b.csv", "2") // which nobody has charged yet
	if err := b.identify("a.csv", "2").Bind(""); err != nil {
		t.Fatal(err)
	}
	b.mustRefuse(open.Bind(""))
	b.mustRefuse(elsewhere.fails("b.csv", "2"))
	if three := elsewhere.identify("b.csv", "3"); three.Bind("") != nil {
		t.Error("a new version is refused")
	}
	b.mustRefuse(b.fails("a.csv", "3"))
}

// TestTwoFoldersBindAtOneLedger: copies of the data and its owner file in two folders are charged to a ledger in a
// third, beside which their first charges agree on what a version means: also where both have opened their files
// before, and with nothing else in common.
func TestTwoFoldersBindAtOneLedger(t *testing.T) {
	one := newBench(t)
	one.write("a.csv", people(0, 300))
	if err := one.identify("a.csv", "1").Bind(""); err != nil {
		t.Fatal(err)
	}
	two := *one
	two.dir, two.out = t.TempDir(), filepath.Join(t.TempDir(), "runs")
	if err := os.CopyFS(two.dir, os.DirFS(one.dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spent"+LedgerSuffix)
	one.write("a.csv", people(0, 299))
	two.write("a.csv", people(0, 298))
	first, second := one.identify("a.csv", "2"), two.identify("a.csv", "2")
	if err := first.Bind(path); err != nil || first.ID != second.ID {
		t.Fatalf("%v; datasets %s and %s", err, first.ID, second.ID)
	}
	two.mustRefuse(second.Bind(path))
	o := two.opening("a.csv", "2")
	o.Ledger = path
	_, err := Identify(t.Context(), o) // and whoever opens it later, before a charge
	two.mustRefuse(err)
}

// TestTakeKeepsTheFirstSecret: of two entries of one content the secret that was drawn first stays,
// in whichever order their files are joined, and what either knows.
func TestTakeKeepsTheFirstSecret(t *testing.T) {
	early := content{Version: "1", HMAC: "m", Seen: clock(), Charged: true}
	early.Secret.Key[0] = 1
	late := content{Version: "1", HMAC: "m", Seen: clock().Add(1), Locked: true}
	late.Secret.Key[0] = 2
	old := content{Version: "1", HMAC: "m", Seen: clock().Add(-1)} // from before there were secrets
	for _, order := range [][]content{{early, late, old}, {late, old, early}, {old, late, early}, {early, old, late}} {
		o := &owner{}
		for _, c := range order {
			o.take(c)
		}
		if got := o.Contents; len(got) != 1 || got[0].Secret.Key[0] != 1 || !got[0].Charged || !got[0].Locked {
			t.Errorf("%+v", got)
		}
	}
}

func (b *bench) fails(name, version string) error {
	_, err := Identify(b.Context(), b.opening(name, version))
	return err
}

// mustRefuse: the refusal is of privacy, names the key of the spec, and quotes nothing of the rows.
func (b *bench) mustRefuse(err error) bool {
	b.Helper()
	var r Refusal
	if !errors.As(err, &r) || !strings.Contains(err.Error(), "dataset.version: is ") || !strings.Contains(err.Error(),
		"nothing was charged") {
		b.Errorf("%v, must be a refusal that names dataset.version", err)
		return false
	}
	return true
}

// TestTheVersionProposedIsNew: also where another machine has charged it, as the ledger tells.
func TestTheVersionProposedIsNew(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	l, err := ledger.Open(disk.Disk{}, b.path("a.csv"+LedgerSuffix), id.ID, clock)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1", "2", "3"} {
		c := ledger.Charge{ID: version, Version: version, Event: privacy.Gaussian{NoiseMultiplier: 1},
			Adjacency: privacy.AddRemove}
		if _, err := l.Append(nil, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(id.Bind(""), id.NoteLedger(b.path("a.csv"+LedgerSuffix), l.Entries())); err != nil {
		t.Fatal(err)
	}
	b.write("a.csv", people(0, 299))
	if err := b.fails("a.csv", "1"); b.mustRefuse(err) && !strings.Contains(err.Error(), `dataset.version: "4"`) {
		t.Errorf("%v: must propose 4", err)
	}
}

// TestCopiesHaveOneLedgerFromTheFirstCharge: two files of a dataset were opened before anything was charged,
// under one folder of runs or two. The second to charge is refused before its noise is drawn, and then
// finds ledger and versions of the first, wherever that ledger lies.
func TestCopiesHaveOneLedgerFromTheFirstCharge(t *testing.T) {
	for _, separate := range []bool{false, true} {
		b := newBench(t)
		other, home := *b, filepath.Join(t.TempDir(), "ledger.jsonl")
		if separate {
			other.out = t.TempDir()
		}
		b.write("a.csv", people(0, 300))
		b.write("b.csv", people(0, 300))
		one, two := b.identify("a.csv", "1"), other.identify("b.csv", "1")
		if one.ID != two.ID {
			t.Fatal("a copy is another dataset")
		}
		if err := charge(one, home); err != nil {
			t.Fatal(err)
		}
		if err := charge(two, b.path("b.csv"+LedgerSuffix)); !errors.As(err, new(Refusal)) {
			t.Errorf("apart %v: %v: a second ledger of one dataset is not refused", separate, err)
		}
		if two = other.identify("b.csv", "1"); two.Ledger != home {
			t.Errorf("apart %v: the ledger is %q, must be %q", separate, two.Ledger, home)
		}
		b.write("b.csv", people(0, 299))
		open := other.identify("b.csv", "2")
		if err := b.identify("a.csv", "2").Bind(""); err != nil {
			t.Fatal(err)
		}
		b.mustRefuse(open.Bind(""))
		b.mustRefuse(other.fails("b.csv", "2"))
	}
}

// TestTwoLedgersOfOneDatasetAreFound: as two folders of runs leave them that make the first charge in one instant.
func TestTwoLedgersOfOneDatasetAreFound(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.write("b.csv", people(0, 300))
	one, two := b.identify("a.csv", "1"), b.identify("b.csv", "1")
	before, _ := os.ReadFile(two.place.owner)
	if err := charge(one, b.path("a.csv"+LedgerSuffix)); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(one.place.owner)
	b.out = t.TempDir()
	if err := errors.Join(os.Remove(one.place.owner), os.WriteFile(two.place.owner, before, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := charge(b.identify("b.csv", "1"), b.path("b.csv"+LedgerSuffix)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(one.place.owner, after, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.csv", "b.csv"} {
		mustContain(t, b.fails(name, "1"), "is a second ledger of "+one.ID, "weir ledger merge")
	}
}

// TestAnOlderOwnerFileIsAnotherSide: it does not know what a version was bound to since, says so, and shares no
// secret with the runs that were.
func TestAnOlderOwnerFileIsAnotherSide(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	backup, _ := os.ReadFile(one.place.owner)
	if err := charge(one, b.path("a.csv"+LedgerSuffix)); err != nil {
		t.Fatal(err)
	}
	if notes := b.identify("a.csv", "1").Notes; strings.Contains(strings.Join(notes, ""), "cannot be told") {
		t.Errorf("a bound version is told of: %q", notes)
	}
	b.out = t.TempDir()
	if err := os.WriteFile(one.place.owner, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	again := b.identify("a.csv", "1")
	if again.ID != one.ID || again.Secret == one.Secret || !strings.Contains(strings.Join(again.Notes, ""),
		"cannot be told") {
		t.Errorf("%v: an older owner file shares the secret of a run that it does not know of", again.Notes)
	}
	if err := again.Bind(""); err != nil {
		t.Fatal(err)
	}
	if last := b.identify("a.csv", "1"); last.Secret != again.Secret || len(last.Notes) > 0 {
		t.Errorf("%v: a version that was bound again has another secret", last.Notes)
	}
}

// charge does as a run does before its noise is drawn.
func charge(id *Identity, path string) error {
	l, err := ledger.Open(disk.Disk{}, path, id.ID, clock)
	if err != nil {
		return err
	}
	if err := id.Bind(""); err != nil {
		return err
	}
	c := ledger.Charge{ID: path, Version: id.Version, Event: privacy.Gaussian{NoiseMultiplier: 1},
		Adjacency: privacy.AddRemove}
	if _, err := l.Append(nil, c); err != nil {
		return err
	}
	return id.NoteLedger(path, l.Entries())
}
