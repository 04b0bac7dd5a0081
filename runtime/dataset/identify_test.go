package dataset

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/privacy/noise"
)

// TestSameDataset: whatever way leads to the same content, it is the same dataset with the same
// secret; other content of the same dataset has a secret of its own.
func TestSameDataset(t *testing.T) {
	for name, other := range map[string]func(b *bench) (string, error){
		"the path again": func(b *bench) (string, error) { return "a.csv", nil },
		"copy":           func(b *bench) (string, error) { b.write("b.csv", people(0, 300)); return "b.csv", nil },
		"symlink":        func(b *bench) (string, error) { return "b.csv", os.Symlink("a.csv", b.path("b.csv")) },
		"symlink to changed content": func(b *bench) (string, error) {
			b.write("a.csv", people(0, 250))
			return "b.csv", os.Symlink("a.csv", b.path("b.csv"))
		},
		"hard link": func(b *bench) (string, error) { return "b.csv", os.Link(b.path("a.csv"), b.path("b.csv")) },
		"gzip":      func(b *bench) (string, error) { b.gzip("a.csv.gz", people(0, 300)); return "a.csv.gz", nil },
		"moved":     func(b *bench) (string, error) { return "b.csv", os.Rename(b.path("a.csv"), b.path("b.csv")) },
		"changed cell": func(b *bench) (string, error) {
			b.write("a.csv", strings.Replace(people(0, 300), ",p7\n", ",p07\n", 1))
			return "a.csv", nil
		},
		"trailing newline": func(b *bench) (string, error) {
			b.write("a.csv", people(0, 300)+
				"\n")
			return "a.csv", nil
		},
		"another folder of runs, in place": func(b *bench) (string, error) { b.out += "2"; return "a.csv", nil },
		"another folder of runs, a gzip beside": func(b *bench) (string, error) {
			b.out += "2"
			b.gzip("a.csv.gz", people(0, 300))
			return "a.csv.gz", nil
		},
		"the owner file lost": func(b *bench) (string, error) { return "a.csv", os.Remove(b.path("a.csv" + OwnerSuffix)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.csv", people(0, 300))
			first := b.identify("a.csv", "1")
			file, err := other(b)
			if err != nil {
				t.Fatal(err)
			}
			again := b.identify(file, "1")
			if strings.HasPrefix(name, "symlink") && again.Path != first.Path {
				t.Errorf("lies at %s, must be %s", again.Path, first.Path)
			}
			changed := again.Content() != first.Content()
			if again.ID != first.ID || changed == (again.Secret == first.Secret) {
				t.Errorf("the dataset is %s, must be %s; content changed: %t, secret changed: %t", again.ID, first.ID, changed,
					again.Secret != first.Secret)
			}
			if len(again.Overlaps) > 0 {
				t.Errorf("overlaps %q, must be none with itself", again.Overlaps)
			}
			if file != "a.csv" && len(again.Notes) == 0 && !strings.HasPrefix(name, "symlink") {
				t.Error("the owner is not told")
			}
		})
	}
}

// TestNewDataset: another table is another dataset, with an id that is random
// and not a function of its content.
func TestNewDataset(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.write("b.csv", people(1000, 1300))
	one, two := b.identify("a.csv", "1"), b.identify("b.csv", "1")
	if one.ID == two.ID || one.Secret == two.Secret || len(two.Overlaps) > 0 {
		t.Errorf("%+v and %+v, must be two datasets", one, two)
	}
	if !validID(one.ID) {
		t.Errorf("id is %q, must be ds- and 32 hex digits", one.ID)
	}
	fresh := newBench(t)
	fresh.random = strings.NewReader(strings.Repeat("x", 200))
	fresh.write("a.csv", people(0, 300))
	if fresh.identify("a.csv", "1").ID == one.ID {
		t.Error("the id is a function of the content")
	}
	b.random = strings.NewReader("short")
	b.write("c.csv", people(2000, 2300))
	if _, err := b.try("c.csv", "1"); err == nil {
		t.Error("an id is made without randomness")
	}
}

// TestUnknownContentOnlyIsRead: reading ten million rows is for new content.
func TestUnknownContentOnlyIsRead(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.identify("a.csv", "1")
	b.write("b.csv", people(0, 300))
	for _, name := range []string{"a.csv", "b.csv"} {
		o := b.opening(name, "1")
		o.Rows.Open = nil // would panic
		if _, err := Identify(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
}

// TestTwoOwnersOfOneFile: content of one dataset under the owner file of another
// would be charged to the wrong ledger.
func TestTwoOwnersOfOneFile(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.write("b.csv", people(1000, 1300))
	b.identify("a.csv", "1")
	b.identify("b.csv", "1")
	b.write("a.csv", people(1000, 1300))
	_, err := b.try("a.csv", "1")
	mustContain(t, err, "must be of one dataset", "remove")
	if !errors.As(err, new(Refusal)) {
		t.Errorf("%v: must be a refusal", err)
	}
}

// TestNothingPublicTellsTheContent: what lies on the owner's side has mode 0600
// and holds no plain digest, and nothing that prints an identity shows a key.
func TestNothingPublicTellsTheContent(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	digest := strings.TrimPrefix(b.opening("a.csv", "1").Digest, "sha256:")
	files := []string{b.path("a.csv" + OwnerSuffix), filepath.Join(b.out, "datasets", "index.json"),
		filepath.Join(b.out, "datasets", id.ID+".json")}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v, must be 0600", path, info.Mode(), err)
		}
		if data, _ := os.ReadFile(path); strings.Contains(string(data), digest) {
			t.Errorf("%s holds the digest of the content", path)
		}
	}
	if info, _ := os.Stat(filepath.Join(b.out, "datasets")); info.Mode().Perm() != 0o700 {
		t.Errorf("folder of the index has mode %v, must be 0700", info.Mode())
	}
	var holder owner
	data, _ := os.ReadFile(files[0])
	if err := json.Unmarshal(data, &holder); err != nil || holder.Key.Key == (noise.Key{}) {
		t.Fatalf("the key is not kept: %v", err)
	}
	if id.Secret == holder.Key.Key {
		t.Error("secret draws use the key that matches contents, must use one derived from it")
	}
	for _, shown := range []string{strings.Join(id.Notes, ""), id.ID, holder.Key.String()} {
		if strings.Contains(shown, holder.Key.Hex()) {
			t.Errorf("%q shows the key", shown)
		}
	}
}

// TestReadOnlyFolder: the owner file lies with the runs, and nothing is written
// beside the data, by root neither.
func TestReadOnlyFolder(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	os.Chmod(b.dir, 0o555)
	defer os.Chmod(b.dir, 0o755)
	one, two := b.identify("a.csv", "1"), b.identify("a.csv", "1")
	if one.ID != two.ID || !strings.Contains(strings.Join(one.Notes, ""), "read-only") {
		t.Errorf("%+v, %+v: must be one dataset, and told", one, two)
	}
	if files, _ := os.ReadDir(b.dir); len(files) != 1 {
		t.Errorf("%d files in the read-only folder, must be 1", len(files))
	}
	os.Chmod(b.dir, 0o755)
	b.write("a.csv", people(0, 200)) // so that the path alone tells
	if three := b.identify("a.csv", "1"); three.ID != one.ID {
		t.Errorf("%+v: the dataset is forgotten once its folder may be written", three)
	}
	os.Chmod(b.dir, 0o555)
	b.write("a.csv", people(0, 100))
	if four := b.identify("a.csv", "1"); four.ID != one.ID {
		t.Errorf("%+v: the dataset is forgotten once its folder is read-only", four)
	}
}
