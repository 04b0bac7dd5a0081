package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestAtomicFiles: a file that is not committed never shows, and a failed write
// leaves what was there.
func TestAtomicFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "file")
	if err := Write(path, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, 0o600, func(w io.Writer) error { io.WriteString(w, "half"); return broken })
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
