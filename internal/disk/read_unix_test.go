//go:build unix

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOnlyRegularFilesAreOpened: a pipe would block, a device never ends.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	pipe, link, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.Symlink(pipe, link), os.WriteFile(file, []byte("1234"),
		0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, dir, "/dev/zero"} {
		if _, err := ReadFile(path, 0); !errors.As(err, &IrregularError{}) {
			t.Errorf("%s: %v, must be refused", path, err)
		}
	}
	if data, err := ReadFile(file, 4); err != nil || string(data) != "1234" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := ReadFile(file, 3); err == nil {
		t.Error("4 bytes are read where 3 are allowed")
	}
}
