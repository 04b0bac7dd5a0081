package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAtomicFiles: a file that is not committed never shows, and a failed write
// leaves what was there.
func TestAtomicFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "file")
	if err := (Disk{}).Write(path, 0o600, func(w io.Writer) error {
		_,
			err := io.WriteString(w, "old")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := (Disk{}).Write(path, 0o600, func(w io.Writer) error { io.WriteString(w, "half"); return broken })
	data, _ := os.ReadFile(path)
	if !errors.Is(err, broken) || string(data) != "old" {
		t.Errorf("%v, file holds %q, must hold old", err, data)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left, must be 1", len(files))
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, must be 0600", info.Mode())
	}
}

// errFull is what a full disk says.
var errFull = errors.New("no space left on device")

// failing lets the changes of one kind fail; of a write half takes place.
func failing(op Op) Disk {
	return Disk{Watch: func(c Change) (int64, error) {
		if c.Op == op {
			return c.Size / 2, errFull
		}
		return 0, nil
	}}
}

// TestFailedChangeLeavesTheOldFile: whichever change fails, and whether or not the writer
// looks at the error of its write, the name holds all of the old file and nothing is
// left beside it.
func TestFailedChangeLeavesTheOldFile(t *testing.T) {
	for _, op := range []Op{OpCreate, OpChmod, OpWrite, OpSync, OpClose, OpRename} {
		for name, write := range map[string]func(io.Writer) error{
			"looks": func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err },
			"blind": func(w io.Writer) error { io.WriteString(w, "new"); return nil },
		} {
			path := filepath.Join(t.TempDir(), "file")
			if err := (Disk{}).WriteBytes(path, 0o600, []byte("old")); err != nil {
				t.Fatal(err)
			}
			err := failing(op).Write(path, 0o600, write)
			data, _ := os.ReadFile(path)
			if !errors.Is(err, errFull) || string(data) != "old" {
				t.Errorf("%s fails, the writer %s: %v, the file holds %q, must hold old", op, name, err, data)
			}
			if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
				t.Errorf("%s fails, the writer %s: %d files are left, must be 1", op, name, len(files))
			}
		}
	}
}

// TestSyncBeforeName: what takes a name is on disk, and so is the name when Commit returns.
func TestSyncBeforeName(t *testing.T) {
	var order []Op
	d := Disk{Watch: func(c Change) (int64, error) { order = append(order, c.Op); return 0, nil }}
	if err := d.WriteBytes(filepath.Join(t.TempDir(), "file"), 0o600, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if want := []Op{OpCreate, OpChmod, OpWrite, OpSync, OpClose, OpRename, OpSyncDir}; !slices.Equal(order, want) {
		t.Errorf("changes are %v, must be %v", order, want)
	}
}

// TestSweepLeavesWhatTakesItsName: at no moment of a write, the last one before the name
// included, does a sweep take the file.
func TestSweepLeavesWhatTakesItsName(t *testing.T) {
	dir := t.TempDir()
	var retained []Op
	d := Disk{Watch: func(c Change) (int64, error) {
		if n, err := (Disk{}).RemoveLeftovers(dir); n != 0 || err != nil {
			retained = append(retained, c.Op)
		}
		return 0, nil
	}}
	if err := d.WriteBytes(filepath.Join(dir, "file"), 0o600, []byte("new")); err != nil || retained != nil {
		t.Errorf("%v, taken before %v", err, retained)
	}
}

// TestSweepTakesWhatNobodyWrites: and nothing else, neither a file of a living writer nor
// one of the user's with a name that is only like it.
func TestSweepTakesWhatNobodyWrites(t *testing.T) {
	dir := t.TempDir()
	living, err := Disk{}.Create(filepath.Join(dir, "a", "living"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Abort()
	for _, name := range []string{".killed.tmp12", "a/.killed.tmp3", "kept.tmp12", ".kept.tmp", ".kept.tmp1.csv",
		"a/kept"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := (Disk{}).RemoveLeftoversIn(filepath.Join(dir, "a"),
		func(name string) bool { return name == "other" }); n !=
		0 || err != nil {
		t.Errorf("beside another file: removed %d, %v, must be 0", n, err)
	}
	if n, err := (Disk{}).RemoveLeftoversIn(filepath.Join(dir, "a"),
		func(name string) bool { return name == "killed" }); n !=
		1 || err != nil {
		t.Errorf("beside its file: removed %d, %v, must be 1", n, err)
	}
	if n, err := (Disk{}).RemoveLeftovers(dir); n != 1 || err != nil {
		t.Errorf("removed %d, %v, must be 1", n, err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	above, _ := filepath.Glob(filepath.Join(dir, "*kept*"))
	if err := living.Commit(); err != nil || len(left)+len(above) != 5 {
		t.Errorf("%v, left are %v and %v, must be 5 files", err, left, above)
	}
	if n, err := (Disk{}).RemoveLeftovers(filepath.Join(dir, "gone")); n != 0 || err != nil {
		t.Errorf("a folder that is gone: removed %d, %v", n, err)
	}
}
