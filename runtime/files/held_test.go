package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/pipeline"
	"weir/runtime/table"
)

// faulty is a file that answers as files of a network do once they are replaced.
type faulty struct {
	fs.File
	text   string
	err    error // of a read behind good bytes
	good   int64
	shrunk bool // reads end there, and Stat still tells the old size
}

func (f *faulty) ReadAt(p []byte, off int64) (int, error) {
	end := int64(len(f.text))
	if f.err != nil || f.shrunk {
		end = f.good
	}
	n := 0
	if off < end {
		n = copy(p, f.text[off:end])
	}
	switch {
	case n == len(p):
		return n, nil
	case f.err != nil:
		return n, f.err
	}
	return n, io.EOF
}

// heldWith holds one real file of text, whose reads are then the reads of f.
func heldWith(t *testing.T, f *faulty) *Held {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data.csv"), []byte(f.text), 0o600); err != nil {
		t.Fatal(err)
	}
	h := Hold(&Folder{dir: dir})
	t.Cleanup(func() { h.Close() })
	if _, err := h.Digest(t.Context(), "data.csv"); err != nil {
		t.Fatal(err)
	}
	f.File = h.files["data.csv"].file
	h.files["data.csv"].at = f
	return h
}

// TestReadsThatFailAreSeen: a file of a network that was replaced gives errors, or
// ends early while its size stays; neither is the end of the table, and neither
// lets anything be released.
func TestReadsThatFailAreSeen(t *testing.T) {
	text := "a\n" + strings.Repeat("1\n", 9000)
	for name, f := range map[string]*faulty{
		"stale":       {text: text, err: syscall.ESTALE, good: 600},
		"input":       {text: text, err: syscall.EIO, good: 0},
		"shrunk":      {text: text, shrunk: true, good: 600},
		"shrunk away": {text: text, shrunk: true, good: 0},
	} {
		h := heldWith(t, f)
		file, err := h.Open("data.csv")
		if err != nil {
			t.Fatal(err)
		}
		if read, err := io.ReadAll(file); err == nil || int64(len(read)) != f.good {
			t.Errorf("%s: %d bytes and %v, must be %d and an error", name, len(read), err, f.good)
		}
		raw, err := table.OpenRaw(t.Context(), h, "data.csv", nil)
		for err == nil {
			for _, e := range raw.Rows {
				err = e
			}
			if err == nil {
				t.Fatalf("%s: the rows end without an error", name)
			}
		}
		if err := h.AllUnchanged(t.Context()); !errors.Is(err, pipeline.ErrChanged) {
			t.Errorf("%s: %v, must be as changed", name, err)
		}
	}
}

// TestEditThatKeepsSizeAndTime: the content is what counts.
func TestEditThatKeepsSizeAndTime(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data.csv")
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	write := func(text string) {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	write("a\n1\n")
	h := Hold(&Folder{dir: dir})
	defer h.Close()
	if _, err := h.Digest(t.Context(), "data.csv"); err != nil {
		t.Fatal(err)
	}
	write("a\n2\n")
	if err := h.Untouched(); err != nil {
		t.Fatalf("the test is of no use: %v", err)
	}
	if err := h.AllUnchanged(t.Context()); !errors.Is(err, pipeline.ErrChanged) {
		t.Errorf("%v, must be found", err)
	}
}

// TestNameThatMeansAnotherFile: a link that was turned, or a file that was rotated,
// before its ledger was looked for.
func TestNameThatMeansAnotherFile(t *testing.T) {
	for name, turn := range map[string]func(path string) error{
		"link": func(path string) error { return errors.Join(os.Remove(path), os.Symlink("b.csv", path)) },
		"rotated": func(path string) error {
			return errors.Join(os.Rename(path, path+".1"), os.WriteFile(path, []byte("a\n9\n"), 0o600))
		},
		"gone": os.Remove,
	} {
		dir := t.TempDir()
		for _, file := range []string{"a.csv", "b.csv"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("a\n1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, "data.csv")
		if err := os.Symlink("a.csv", path); err != nil {
			t.Fatal(err)
		}
		h := Hold(&Folder{dir: dir})
		defer h.Close()
		if err := h.Named("data.csv"); err != nil {
			t.Fatal(err)
		}
		if err := turn(path); err != nil {
			t.Fatal(err)
		}
		if err := h.Named("data.csv"); !errors.Is(err, pipeline.ErrChanged) {
			t.Errorf("%s: %v, must be found", name, err)
		}
	}
}

// TestOnlyWhatIsDeclared: a source gets at no other file, whether it is there or not.
func TestOnlyWhatIsDeclared(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := Hold(&Folder{dir: dir})
	defer h.Close()
	may := h.Only("a.csv")
	for name, allowed := range map[string]bool{"a.csv": true, "b.csv": false, "./a.csv": false, "absent.csv": false} {
		_, err1 := may.Open(name)
		_, err2 := may.Digest(t.Context(), name)
		for _, err := range []error{err1, err2, may.Unchanged(t.Context(), name)} {
			if (err == nil) != allowed || !allowed && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %v, must be allowed: %v", name, err, allowed)
			}
		}
	}
}
