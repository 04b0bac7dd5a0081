package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestConfinedFolder(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600)
	os.WriteFile(filepath.Join(inside, "data"), []byte("x"), 0o600)
	os.Symlink(outside, filepath.Join(inside, "link"))
	os.Symlink("data", filepath.Join(inside, "alias"))
	f, err := OpenFolder(inside, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{"data", "./data", "alias"} {
		if err := f.Check(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"../" + filepath.Base(outside) + "/secret", "link/secret",
		filepath.Join(outside, "secret"), "/etc/passwd"} {
		if err := f.Check(name); !errors.Is(err, ErrConfined) {
			t.Errorf("%s: %v, must be refused", name, err)
		}
	}
	if err := f.Check("."); err == nil {
		t.Error("a folder passes for a file")
	}
}
