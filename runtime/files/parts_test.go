package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
)

// folderOf returns a folder of these files, confined and not.
func folderOf(t *testing.T, names ...string) (dir string, both []*Folder) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700),
			os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, confine := range []bool{false, true} {
		f, err := OpenFolder(dir, confine)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		both = append(both, f)
	}
	return dir, both
}

// TestListOfAPattern: the files in byte order, without what weir keeps beside them; every refusal says what to do.
func TestListOfAPattern(t *testing.T) {
	dir, both := folderOf(t, "in/p-2.csv", "in/p-10.csv", "in/.p-3.csv", "in/p-_.csv.weir-ledger.jsonl", "in/q.csv",
		"what?.csv", "whats.csv", "one/a.csv")
	if err := errors.Join(os.Link(filepath.Join(dir, "one/a.csv"), filepath.Join(dir, "one/b.csv")),
		os.Symlink(filepath.Dir(dir), filepath.Join(dir, "out"))); err != nil {
		t.Fatal(err)
	}
	for _, f := range both {
		for name, want := range map[string][]string{
			"in/p-*.csv": {"in/p-10.csv", "in/p-2.csv"}, "in/p-?.csv": {"in/p-2.csv"}, "./in/p-*": {"in/p-10.csv", "in/p-2.csv"},
			"in/q.csv": {"in/q.csv"}, "absent.csv": {"absent.csv"}, "whats.csv": {"whats.csv"},
		} {
			if got, err := f.List(name); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v; must be %v", name, got, err, want)
			}
		}
		for name, want := range map[string]string{
			"in/r*.csv": "in/r*.csv: no file in the folder " + filepath.Join(dir, "in") + " matches this pattern",
			"absent/*": "absent/*: the folder " + filepath.Join(dir, "absent") +
				" cannot be listed: no such file or directory",
			"what?.csv":   "is the name of a file and, with its * or ?, a pattern for several; rename the file",
			"one/*.csv":   "one/b.csv: is the same file as one/a.csv, by a link, and its rows would count twice",
			"in/q.csv/*x": "in/q.csv cannot be listed: ",
		} {
			if got, err := f.List(name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v; must say %s", name, got, err, want)
			}
		}
	}
	for _, name := range []string{"out/*", filepath.Join(dir, "in", "*"), "../*"} {
		if got, err := both[1].List(name); !errors.Is(err, ErrConfined) {
			t.Errorf("a confined folder lists %s: %v, %v", name, got, err)
		}
	}
}

// TestPatternThatMatchesOthers: one file more, less or in the place of another is a change, until the end; what was
// listed first is what is read.
func TestPatternThatMatchesOthers(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"more": func(dir string) error { return os.WriteFile(filepath.Join(dir, "p-3"), nil, 0o600) },
		"less": func(dir string) error { return os.Remove(filepath.Join(dir, "p-1")) },
		"else": func(dir string) error { return os.Rename(filepath.Join(dir, "p-1"), filepath.Join(dir, "p-0")) },
		"none": nil,
	} {
		dir, both := folderOf(t, "p-1", "p-2")
		h := Hold(both[0])
		if list, err := h.Lists([]string{"p-*"}); err != nil || !slices.Equal(list, []string{"p-1", "p-2"}) {
			t.Fatalf("%v, %v", list, err)
		}
		if change != nil {
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range []error{h.Untouched(), h.AllUnchanged(t.Context())} {
			if errors.Is(err, pipeline.ErrChanged) != (change != nil) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if list, err := h.List("p-*"); err != nil || !slices.Equal(list, []string{"p-1", "p-2"}) {
			t.Errorf("%s: lists %v, %v, must be as at first", name, list, err)
		}
	}
}

// TestOnlyPartsOfWhatIsDeclared: a source gets at the files of its pattern, and at no others.
func TestOnlyPartsOfWhatIsDeclared(t *testing.T) {
	_, both := folderOf(t, "p-1", "q-1")
	h := Hold(both[0])
	may := h.Only("p-*")
	if _, err := may.Open("p-1"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v: opened before the pattern was listed", err)
	}
	if list, err := may.List("p-*"); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := may.Open("p-1"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"q-1", "q-*"} {
		_, err1 := may.List(name)
		_, err2 := may.Open(name)
		if !errors.Is(err1, fs.ErrPermission) || !errors.Is(err2, fs.ErrPermission) {
			t.Errorf("%s: %v, %v", name, err1, err2)
		}
	}
}
