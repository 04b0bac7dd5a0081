package dataset

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/runtime/table"
)

// several returns the opening of the files that a pattern names.
func (b *bench) several(pattern, version string, names ...string) Opening {
	b.Helper()
	o := Opening{Out: b.out, Path: b.path(pattern), Version: version, Digest: "parts", Clock: clock, Random: b.random}
	list := table.Parts{Name: pattern}
	for _, name := range names {
		digest, err := table.Digest(context.Background(), files{}, b.path(name))
		if err != nil {
			b.Fatal(err)
		}
		list.Files, o.Parts = append(list.Files, b.path(name)), append(o.Parts, digest)
		o.Digest += " " + digest
	}
	rows, err := table.OpenParts(files{}, list, nil, columns(), "")
	if err != nil {
		b.Fatal(err)
	}
	o.Rows = rows
	return o
}

// TestOwnerOfSeveralFiles: the owner file is called by the pattern's text, whatever files there are; a part that comes
// makes other content of the same dataset, and a part alone is that dataset too.
func TestOwnerOfSeveralFiles(t *testing.T) {
	b := newBench(t)
	b.write("p-1.csv", people(0, 300))
	b.write("p-2.csv", people(300, 600))
	b.write("p-3.csv", people(600, 900))
	open := func(o Opening) *Identity {
		t.Helper()
		id, err := Identify(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := open(b.several("p-*.csv", "1", "p-1.csv", "p-2.csv"))
	if err := first.Bind(""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.path("p-_.csv.weir-owner.json")); err != nil {
		t.Error(err)
	}
	if filepath.Base(LedgerName(first.Path)) != "p-_.csv.weir-ledger.jsonl" {
		t.Errorf("the ledger is %s", LedgerName(first.Path))
	}
	_, err := Identify(t.Context(), b.several("p-*.csv", "1", "p-1.csv", "p-2.csv", "p-3.csv"))
	mustContain(t, err, "p-*.csv", `dataset.version: is 1`, `such as dataset.version: "2"`)
	next := open(b.several("p-*.csv", "2", "p-1.csv", "p-2.csv", "p-3.csv"))
	if next.ID != first.ID || next.Content() == first.Content() || next.Secret == first.Secret {
		t.Error("the next month is another dataset, or has the content or the secret of the first")
	}
	for _, name := range []string{"p-2.csv", "p-3.csv"} {
		if id := open(b.opening(name, "3")); id.ID != first.ID {
			t.Errorf("%s alone is %s, must be %s", name, id.ID, first.ID)
		}
		digest, _ := table.Digest(t.Context(), files{}, b.path(name))
		for _, out := range []string{b.out, filepath.Join(t.TempDir(), "runs")} {
			if what, is, err := KnownPrivate(out, b.path("other.csv"), digest); !is || err != nil {
				t.Errorf("%s passes for public under %s: %q, %v", name, out, what, err)
			}
		}
	}
	b.write("p-4.csv", people(900, 1200))
	open(b.several("p-*.csv", "4", "p-1.csv", "p-4.csv"))
	elsewhere := b.opening("p-4.csv", "5")
	elsewhere.Out = filepath.Join(t.TempDir(), "runs")
	if id := open(elsewhere); id.ID != first.ID {
		t.Errorf("p-4.csv alone is %s under another folder of runs, must be %s", id.ID, first.ID)
	}
	seen, err := Peek(b.out, b.path("p-*.csv"), "")
	if err != nil || seen == nil || seen.ID != first.ID {
		t.Errorf("Peek finds %v, %v", seen, err)
	}
}

// TestAPartThatIsADatasetAlready: it stays the dataset that it is, whichever id comes first in the index.
func TestAPartThatIsADatasetAlready(t *testing.T) {
	for seed := range byte(6) {
		b := newBench(t)
		b.random = rand.NewChaCha8([32]byte{seed})
		b.write("p-1.csv", people(0, 300))
		b.write("p-2.csv", people(300, 600))
		alone := b.identify("p-1.csv", "1")
		all, err := Identify(t.Context(), b.several("p-*.csv", "1", "p-1.csv", "p-2.csv"))
		if err != nil || all.ID == alone.ID || len(all.Overlaps) != 1 || !strings.Contains(all.Joins[0],
			"'"+b.path("p-*.csv")+"'") {
			t.Fatalf("%+v, %v: must be another dataset that shares rows", all, err)
		}
		var kept owner
		if _, err := readPrivate(OwnerName(b.path("p-*.csv")), &kept, ownerCure); err != nil || len(kept.Parts) != 1 {
			t.Errorf("%d parts in the owner file, %v; must be p-2.csv alone", len(kept.Parts), err)
		}
		if again := b.identify("p-1.csv", "1"); again.ID != alone.ID {
			t.Errorf("is %s now, was %s", again.ID, alone.ID)
		}
		done, err := Continue(Continuation{Out: b.out, Old: b.path("p-1.csv"), New: b.path("p-*.csv"), Random: b.random,
			Clock: clock})
		if err != nil || done.ID != alone.ID {
			t.Errorf("%+v, %v: must be joined to %s", done, err, alone.ID)
		}
	}
}

// TestFileCalledAsTheLedgerOfAPattern: two tables never share the name of a ledger.
func TestFileCalledAsTheLedgerOfAPattern(t *testing.T) {
	b := newBench(t)
	b.write("p-1.csv", people(0, 300))
	b.write("p-_.csv", people(300, 600))
	_, err := Identify(t.Context(), b.several("p-*.csv", "1", "p-1.csv"))
	mustContain(t, err, "would share the ledger p-_.csv.weir-ledger.jsonl with the file p-_.csv")
	_, blind := Peek(b.out, b.path("p-*.csv"), "")
	for _, err := range []error{err, blind} {
		if !errors.As(err, new(Refusal)) {
			t.Errorf("%v: must be a refusal", err)
		}
	}
}

// TestTableOfAServerUnderTwoNames: other rows, or fewer columns, of a table that is known under another name are its
// dataset, in another folder of runs too; another table is none.
func TestTableOfAServerUnderTwoNames(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.write("b.csv", people(600, 900))
	open := func(path, file, where, out string) *Identity {
		o := b.opening(file, "1")
		o.Path, o.Where, o.Place, o.Out = path+".database", where, "7 "+strings.TrimRight(where, "ABC"), out
		id, err := Identify(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := open(b.path("a"), "a.csv", "postgres c.t of env:A", b.out)
	b.write("d.csv", people(1800, 2100))
	if id := open(filepath.Join(t.TempDir(), "b"), "b.csv", "postgres c.t of env:A", b.out); id.ID != first.ID {
		t.Errorf("in another folder it is %s, must be %s", id.ID, first.ID)
	}
	if id := open(b.path("d"), "d.csv", "postgres c.t of env:A", filepath.Join(t.TempDir(), "runs")); id.ID != first.ID {
		t.Errorf("under another folder of runs it is %s, must be %s", id.ID, first.ID)
	}
	b.write("e.csv", people(2400, 2700))
	b.write("f.csv", people(3000, 3300))
	for name, out := range map[string]string{"e": b.out, "f": filepath.Join(t.TempDir(), "runs")} {
		if id := open(b.path(name), name+".csv", "postgres c.t of env:B", out); id.ID != first.ID {
			t.Errorf("by another connection it is %s, must be %s", id.ID, first.ID)
		}
	}
	b.write("c.csv", people(1200, 1500))
	if id := open(b.path("c"), "c.csv", "postgres c.u of env:A", b.out); id.ID == first.ID {
		t.Error("another table is the same dataset")
	}
}
