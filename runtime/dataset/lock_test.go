package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockedVersionMeansOneContent: by the owner file, by the index where that is lost, in
// another folder of runs, through a copy; and no other content, whoever locks it.
func TestLockedVersionMeansOneContent(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	mustContain(t, id.CheckLock(), "nothing on the owner's side", id.ID)
	dir := b.out
	b.out += "2" // knows the dataset before it is locked
	b.identify("a.csv", "1")
	b.out = dir
	if err := id.KeepLock(); err != nil {
		t.Fatal(err)
	}
	same := func(what, file string) {
		t.Helper()
		if err := b.identify(file, "1").CheckLock(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	same("again", "a.csv")
	b.write("copy.csv", people(0, 300))
	same("a copy", "copy.csv")
	b.out += "2"
	same("another folder of runs", "a.csv")
	b.out = dir
	os.Remove(b.path("a.csv" + OwnerSuffix))
	same("without the owner file", "a.csv")
	b.write("a.csv", people(0, 301))
	other := b.identify("a.csv", "1")
	mustContain(t, other.CheckLock(), "has other content than version 1", "declare another dataset.version")
	mustContain(t, other.KeepLock(), "has other content than version 1")
	mustContain(t, b.identify("a.csv", "1").CheckLock(), "has other content")
	next := b.identify("a.csv", "2")
	mustContain(t, next.CheckLock(), "nothing on the owner's side")
	if err := next.KeepLock(); err != nil {
		t.Error(err)
	}
	b.write("a.csv", people(0, 300))
	same("the first content", "a.csv")
}

// TestTwoLockAtOnce: of two that found no lock, the second is refused for other content.
func TestTwoLockAtOnce(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	b.write("a.csv", people(0, 301))
	two := b.identify("a.csv", "1")
	if err := one.KeepLock(); err != nil {
		t.Fatal(err)
	}
	mustContain(t, two.KeepLock(), "has other content")
}

// TestLockIsKeptWithTheKeyOnly: what is written of it is a mark beside an HMAC, in files
// that are the owner's alone.
func TestLockIsKeptWithTheKeyOnly(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	if err := id.KeepLock(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{b.path("a.csv" + OwnerSuffix), filepath.Join(b.out, "datasets", id.ID+".json")} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
		if text, _ := os.ReadFile(path); strings.Count(string(text), `"locked": true`) != 1 {
			t.Errorf("%s does not mark the content once: %s", path, text)
		}
	}
}
